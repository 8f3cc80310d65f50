// References between schemas: URIs as RFC 3986, section 5.2, resolves them, and the two kinds of
// fragment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quire::json::detail {

struct Reference {
    std::string uri;       // Without its fragment; relative only if its base was.
    std::string fragment;  // With %XX decoded.
};

// `reference` as it is meant where `base` (without a fragment) is the base URI.
Reference resolve_uri(std::string_view base, std::string_view reference);

// The steps of a JSON pointer (RFC 6901); none if it is not one. "" has no steps.
std::optional<std::vector<std::string>> pointer_steps(std::string_view pointer);

// What $anchor may be: a letter or _, then letters, digits, - . _.
bool is_anchor(std::string_view name);

}  // namespace quire::json::detail

// URIs of references between schemas, resolved as in RFC 3986, section 5.2, and the two kinds of
// fragment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quire::json::detail {

// A resolved reference.
struct Reference {
    std::string uri;       // Without fragment; relative only if its base was.
    std::string fragment;  // With %XX decoded.
};

// The reference resolved against `base`, a URI without fragment.
Reference resolve_uri(std::string_view base, std::string_view reference);

// The steps of a JSON pointer (RFC 6901); nothing if it is none. "" has no steps.
std::optional<std::vector<std::string>> pointer_steps(std::string_view pointer);

// True for a valid $anchor: a letter or _, then letters, digits, - . _.
bool is_anchor(std::string_view name);

}  // namespace quire::json::detail

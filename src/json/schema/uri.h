// The parts of a reference between schemas, for everything that follows one: its URI, resolved as
// in RFC 3986, section 5.2, and the two kinds of fragment, JSON pointers and anchors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

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

// The value one step of a JSON pointer below `at`; null if there is none. The index of an item has
// no leading zeros.
const Value* step_below(const Value& at, std::string_view step);
Value* step_below(Value& at, std::string_view step);
// The step as a JSON pointer writes it: '/' is "~1", '~' is "~0".
std::string escaped_step(std::string_view step);

// Returns true for a valid $anchor: a letter or _, then letters, digits, - . _.
bool is_anchor(std::string_view name);

}  // namespace quire::json::detail

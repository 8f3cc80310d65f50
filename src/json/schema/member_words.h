// The words that a JSON Schema lists for a member of an object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace quire::json {

// The words that `field` may be, as far as the schema lists them by enum or const, also behind
// references, branches and arrays: in order, each once. O(size).
std::vector<std::string> words_of_member(const Value& schema, std::string_view field);

}  // namespace quire::json

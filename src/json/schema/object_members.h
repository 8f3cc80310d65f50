// The members that a schema of an object declares, and removing some of them. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/value.h"
#include "json/schema/references.h"

namespace quire::json {

// Returns true if `schema`, that of an object, names the member or lists words for it, in itself or in a
// part that applies to the same value. `references` may be null if there are none. O(size).
bool declares_member(const SchemaReferences* references, const Value& schema,
                     std::string_view field);

// `schema`, that of an object, without these members, and without their names in required,
// dependentRequired, dependentSchemas, and in the examples and the default of the whole.
Value without_members(Value schema, std::span<const std::string> names);

}  // namespace quire::json

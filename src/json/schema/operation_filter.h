// Filtering a tool's JSON Schema by operation, for rules that allow only some operations.
//
// A tool with several operations has an argument that names one ("operation": "delete"). A
// forbidden operation disappears from the published schema: its word, its branch, the parameters
// that only it uses, and examples and defaults that mention it. Pure; O(size of the schema).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace quire::json {

// `schema`, that of an object, with only the `allowed` words for the member `field`. Afterwards no
// other string fits the member, nor a list with another string in it, and every call with an
// allowed word that fitted before still does.
//
// The filter follows everything that applies to the object itself: properties, patternProperties,
// additionalProperties, unevaluatedProperties, dependentSchemas, allOf, anyOf, oneOf, not, if,
// then, else, $ref and $dynamicRef (see references.h), and within the member the same and items,
// prefixItems, unevaluatedItems, contains. A branch without allowed words is removed, and so are
// defaults and examples that name another word, entries of a discriminator's mapping, and
// definitions that have become unused. Lists beside an enum with "num" in their name and of the
// enum's length lose the same entries. A member that accepts any string receives the enum, and so
// does the whole schema if a path past its branches does not check the member.
//
// Shared definitions and entries for other names stay unchanged; references to the whole document
// follow it. If no word is left, the enum is empty. A schema without the member is returned
// unchanged; one that accepts any name gets the member if it lists words for it or requires it.
// Beyond 256 nested schemas, or 100,000 values unfolded from references, only the member itself is
// kept.
Value filter_schema_enum(Value schema, std::string_view field,
                         std::span<const std::string> allowed);

}  // namespace quire::json

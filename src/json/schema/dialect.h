// Translating schemas of earlier dialects of JSON Schema into 2020-12. Pure.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "base/value.h"

namespace quire::json {

// The deepest nesting of a schema that is translated.
inline constexpr std::size_t kDialectNesting = 128;

// `schema` in 2020-12, without a $schema at its root. draft-07 and 2019-09 are recognised by
// $schema; a schema without it counts as 2020-12, as in the Model Context Protocol.
//
// From draft-07: items as an array becomes prefixItems, and additionalItems becomes items;
// dependencies becomes dependentRequired and dependentSchemas; definitions becomes $defs, if there
// is none; beside a $ref only definitions count; an $id that is a mere fragment becomes $anchor;
// keywords of later dialects are dropped. References by JSON Pointer ("#/properties/a/items/0")
// follow their targets. From 2019-09: arrays likewise, and $recursiveRef becomes $ref if nothing
// has a $recursiveAnchor. O(size), plus the length of each reference.
//
// Errors: unsupported "unsupported_dialect" {dialect} for another $schema, or for something that
// 2020-12 cannot express; out_of_range "schema_too_large" {limit}.
Result<Value> in_2020_12(Value schema);

}  // namespace quire::json

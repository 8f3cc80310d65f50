// Schemas that were written for an earlier dialect of JSON Schema, as 2020-12 says the same. Pure.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "base/value.h"

namespace quire::json {

// How deep a schema may be nested that is translated.
inline constexpr std::size_t kDialectNesting = 128;

// `schema` in 2020-12, without a $schema at its root: from draft-07 and 2019-09 by what $schema
// says there; one without is taken to be 2020-12 already, as the Model Context Protocol has it.
//
// Of draft-07: items as an array are prefixItems, and additionalItems items; dependencies are
// dependentRequired and dependentSchemas; definitions are $defs, where there are none; beside a
// $ref nothing counts but definitions; an $id of a mere fragment is an $anchor; keywords that came
// later say nothing and go. References by JSON Pointer ("#/properties/a/items/0") lead to where
// their target stands now. Of 2019-09 the same for arrays, and $recursiveRef is $ref where nothing
// has a $recursiveAnchor. O(size), and for each reference its length.
//
// Errors: unsupported "unsupported_dialect" {dialect}: another $schema, or what 2020-12 cannot say;
// out_of_range "schema_too_large" {limit}.
Result<Value> in_2020_12(Value schema);

}  // namespace quire::json

// The JSON Schema (2020-12) of a block's values, for a tool that is offered for one block.
#pragma once

#include "memory/block_schema.h"

namespace quire::memory {

// Accepts what check_value() accepts, except that a Timestamp may be any string ("format" names
// it). Contains descriptions and defaults; read-only fields and sections are marked readOnly.
Value json_schema(const BlockSchema& schema);
// The schema of one field's value.
Value json_schema(const Field& field);

}  // namespace quire::memory

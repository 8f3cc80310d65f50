// The JSON Schema (2020-12) of a block's values, so that a tool can be offered for one block.
#pragma once

#include "memory/block_schema.h"

namespace quire::memory {

// Takes what check_value() takes, but that a Timestamp is any string here ("format" says which).
// Descriptions and defaults are in it; read-only fields and sections are marked readOnly.
Value json_schema(const BlockSchema& schema);
// Of one field's value.
Value json_schema(const Field& field);

}  // namespace quire::memory

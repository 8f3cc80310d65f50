// Schemas as JSON, which is how they are stored and how tools speak of them.
//
//   {"Text": {"viewport": {"start_line": 1, "display_lines": 40}}}
//   {"Map": {"fields": [{"name", "description", "field_type", "required", "default",
//   "read_only"}]}}
//   {"List": {"item_schema": SCHEMA, "max_items": 100}}
//   {"Log": {"display_limit": 20, "entry_schema": {"timestamp", "agent_id", "fields"},
//            "retain": {"max_entries", "max_age_s"}}}
//   {"Composite": {"sections": [{"name", "schema", "description", "read_only"}]}}
//
// Also accepted: a bare "Text", "List" or "Log"; null for an absent member; a section as the pair
// ["name", SCHEMA]; a Log's "max_entries" in place of "display_limit".
#pragma once

#include "base/concat.h"
#include "base/result.h"
#include "json/codec.h"
#include "memory/block_schema.h"

namespace quire::memory {

// Errors: invalid_argument "invalid_schema" {path, rule, …}; the message names the place and what
// would be valid. `rule` is one of unknown_schema, tree, missing, wrong_type, unknown_key,
// bad_name, duplicate_name {name}, bad_default, out_of_range, too_deep {limit}, too_many {limit}.
// Never recurses deeper than a schema may nest.
Result<BlockSchema> parse_schema(const Value& form);

// Checks that a block may be given the schema: no name of a section has a control, direction or
// line-separating character. A schema that is stored already is not checked again. Errors:
// invalid_argument "invalid_label" {section}.
Result<void> check_section_names(const BlockSchema& schema);

// The full form without absent members; parse_schema() reads it back as an equal schema.
Value to_value(const BlockSchema& schema);

}  // namespace quire::memory

namespace quire::json {

template <>
struct Codec<memory::BlockSchema> {
    static Map schema() { return {}; }
    static Read<memory::BlockSchema> read(const Value& value) {
        Result<memory::BlockSchema> parsed = memory::parse_schema(value);
        if (!parsed) return bad_value(cat("does not parse: ", parsed.error().message()));
        return std::move(*parsed);
    }
    static Value encode(const memory::BlockSchema& schema) { return memory::to_value(schema); }
};

}  // namespace quire::json

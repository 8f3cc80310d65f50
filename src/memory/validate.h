// Checks of values against a schema, and the values of what was never set. Pure.
//
// Values here are JSON: no bytes, no NaN or infinity, strings and keys in valid UTF-8, at most
// kMaxValueDepth deep. Lengths of text count code points.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/block_schema.h"

namespace quire::memory {

inline constexpr std::size_t kMaxValueDepth = 64;

// The error invalid_argument "schema_mismatch" {field, expected, actual}: "Schema mismatch:
// expected Number, got string". `field` is the place in the value: "status", "done" of an item; ""
// for the whole value.
Failure schema_mismatch(std::string_view field, std::string_view expected, std::string_view actual);
// The error not_found "field_not_found" {field, fields}.
Failure field_not_found(std::string_view field, const std::vector<Field>& fields);

// Accepts any JSON value. Errors: schema_mismatch.
Result<void> check_json(std::string_view field, const Value& value);
// Accepts values of the field's type, but not null. Errors: schema_mismatch.
Result<void> check_field(const Field& field, const Value& value);
// Accepts an object with these fields: each known and of its type, and all required fields present
// unless they have a default. Errors: schema_mismatch (actual "nothing" for a missing one),
// field_not_found.
Result<void> check_fields(const std::vector<Field>& fields, const Map& object);
// Accepts the whole value of a block: a string; an object of fields; an array of items or entries;
// an object of sections. Errors: as above; out_of_range "max_items" {limit, len}.
Result<void> check_value(const BlockSchema& schema, const Value& value);

// An item as a caller offers it, checked: members that are null are dropped if the items have
// fields. Errors: as for check_value().
Result<Value> accept_item(const ListSchema& list, Value value);
// An entry as a caller offers it, checked: a text becomes the "message" of an open log, else the
// first required Text field without a default, or the first Text field; null members are dropped. A
// timestamp and an agent_id are optional. Errors: schema_mismatch, field_not_found.
Result<Map> accept_entry(const LogSchema& log, Value value);

// The code points of all strings in the value, without keys.
std::size_t text_length(const Value& value);
std::size_t text_length(const Map& object);
// Errors: out_of_range "char_limit" {limit, len} if `length` exceeds the limit.
Result<void> check_length(std::size_t length, std::optional<std::size_t> char_limit);
// Errors: out_of_range "max_items" {limit, len}.
Result<void> check_count(std::size_t len, std::optional<std::size_t> max_items);

// The value of a block in which nothing was ever set: "", the defaults of its fields, [], or an
// object of its sections.
Value default_value(const BlockSchema& schema);

}  // namespace quire::memory

// Whether values are what a schema says, and what reads where nothing has been set. Pure.
//
// Values here are JSON: no bytes, no NaN or infinity, strings and keys of valid UTF-8, at most
// kMaxValueDepth deep. Lengths of text are code points.
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

// invalid_argument "schema_mismatch" {field, expected, actual}: "Schema mismatch: expected Number,
// got string". `field` says where in the value: "status", "done" of an item; "" for all of it.
Failure schema_mismatch(std::string_view field, std::string_view expected, std::string_view actual);
// not_found "field_not_found" {field, fields}.
Failure field_not_found(std::string_view field, const std::vector<Field>& fields);

// Any JSON value. Errors: schema_mismatch.
Result<void> check_json(std::string_view field, const Value& value);
// A value of the field's type; null is none. Errors: schema_mismatch.
Result<void> check_field(const Field& field, const Value& value);
// An object with these fields: each known and of its type, the required ones there unless they have
// a default. Errors: schema_mismatch (actual "nothing" for what is missing), field_not_found.
Result<void> check_fields(const std::vector<Field>& fields, const Map& object);
// All of a block: a string; an object of fields; an array of items or entries; an object of
// sections. Errors: as above; out_of_range "max_items" {limit, len}.
Result<void> check_value(const BlockSchema& schema, const Value& value);

// What a caller offers as an item: members of an object that are null are left out where the items
// have fields, then it is checked. Errors: as for check_value().
Result<Value> accept_item(const ListSchema& list, Value value);
// What a caller offers as an entry: a text becomes the "message" of an open log, else the first
// required Text field that has no default, or the first Text field; null members are left out, and
// members checked. A timestamp and an agent_id may be there, and need not. Errors: schema_mismatch,
// field_not_found.
Result<Map> accept_entry(const LogSchema& log, Value value);

// Code points of all strings in the value, keys not counted.
std::size_t text_length(const Value& value);
// Errors: out_of_range "char_limit" {limit, len} when `length` is more than there is a limit for.
Result<void> check_length(std::size_t length, std::optional<std::size_t> char_limit);
// Errors: out_of_range "max_items" {limit, len}.
Result<void> check_count(std::size_t len, std::optional<std::size_t> max_items);

// What a block reads as in which nothing was ever set: "", the defaults of its fields, [], or an
// object of its sections.
Value default_value(const BlockSchema& schema);

}  // namespace quire::memory

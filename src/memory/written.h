// Written: what a write to a memory block is for, whoever makes it: the kind of schema, and the
// fields that it touches. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/block_schema.h"
#include "policy/actor.h"
#include "policy/permission.h"

namespace quire::memory {

// What a write is for. A List's and a Log's fields are those of an item and of an entry.
enum class Shape { text, map, list, log };

struct Write {
    policy::Operation operation = policy::Operation::overwrite;
    std::string_view section = {};
    Shape shape = Shape::text;
    // What is written of a Map, an item or an entry. Where the schema leaves items and entries open
    // any will do.
    std::span<const std::string> fields = {};
};

// The fields of what is written: a Map's, an item's or an entry's; null where they are open, and
// for a Text.
const std::vector<Field>* fields_of(const BlockSchema& schema);

// Errors: schema_mismatch {field, expected "Map" …, actual} where the schema is of another kind.
Result<void> check_shape(const BlockSchema& schema, const Write& write);
// Null where any will do. Errors: field_not_found.
Result<const Field*> find_written(const BlockSchema& schema, std::string_view field);

// How an entry names its writer: an agent by its name, anybody else as KIND:NAME.
std::string entry_writer(const policy::Actor& actor);

// denied "read_only_field" {field}.
Failure read_only_field(std::string_view field);

}  // namespace quire::memory

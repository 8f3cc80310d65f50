// Written: the subject of a write to a memory block, whoever makes it: the kind of schema, and the
// fields that it touches. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "base/result.h"
#include "memory/block_schema.h"
#include "policy/actor.h"
#include "policy/permission.h"

namespace quire::memory {

// The kind of content that a write is for. A List's fields are those of an item, a Log's those of
// an entry.
enum class Shape { text, map, list, log };
constexpr auto words_of(Shape) {
    return word_table("Text", "Map", "List", "Log");
}

// One write, as the gate sees it.
struct Write {
    policy::Operation operation = policy::Operation::overwrite;
    std::string_view section = {};
    Shape shape = Shape::text;
    // The written fields of a Map, an item or an entry. Open items and entries accept any.
    std::span<const std::string> fields = {};
};

// The fields that a write may name: those of a Map, an item or an entry; null if any may be named,
// and for a Text.
const std::vector<Field>* fields_of(const BlockSchema& schema);

// Errors: schema_mismatch {field, expected "Map" …, actual} if the schema is of another kind.
Result<void> check_shape(const BlockSchema& schema, const Write& write);
// Returns null if any field is accepted. Errors: field_not_found.
Result<const Field*> find_written(const BlockSchema& schema, std::string_view field);

// The name of a writer in a log entry: an agent's name alone, for others KIND:NAME.
std::string entry_writer(const policy::Actor& actor);

// The error denied "read_only_field" {field}.
Failure read_only_field(std::string_view field);

}  // namespace quire::memory

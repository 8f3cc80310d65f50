// A memory block as a text that a person edits, and that text back as a value.
//
// A Text block is its text, unchanged. Every other block is TOML, each part under its own name:
//
//   Map         FIELD = VALUE
//   List        [[items]] with a member on each line, or items = [ … ] if some are not objects
//   Log         [[entries]], oldest first, or entries = [ … ]
//   Composite   [SECTION], and in it the above; text = """…""" for a Text
//
// TOML has no null: it is {"$" = "null"}, and a key that is all '$' gets one more of them. Members
// that are not set, and those that only a source writes, stand in comments. Errors name the line.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "memory/block_schema.h"

namespace quire::cli {

// The comment above the block, for a person to read.
struct FormHead {
    std::string label;
    std::string description;
    std::string permission;  // A permission in the words of the tools.
    std::int64_t version = 0;
};

// "txt" or "toml".
std::string_view form_extension(const memory::BlockSchema& schema);

// Appends a newline to a text that has none at its end, because editors do; read_form() removes it
// again. O(value).
std::string write_form(const FormHead& head, const memory::BlockSchema& schema, const Value& value);

// A member that is missing in the form is missing in the value: read-only fields, sections, and
// what the person deleted; a List or Log without items is empty. `shown` is the value from which
// the form was written: parts that are equal to it are not checked. Errors: invalid_argument
// "invalid_form" {line}: "line 7: …".
Result<Value> read_form(std::string_view form, const memory::BlockSchema& schema,
                        const Value& shown);

// A part of the value that read_form() returns, as memory/revision.h names it.
struct FormPlace {
    std::string section;
    std::string field = {};
    std::optional<std::size_t> index = {};  // The index of an item or an entry.
};
// The line of the form on which the place stands; if it is missing, the line of the innermost
// section that is there. None without such a section, for a Text, and for a malformed form.
// O(form).
std::optional<std::size_t> line_of(std::string_view form, const memory::BlockSchema& schema,
                                   const FormPlace& place);

}  // namespace quire::cli

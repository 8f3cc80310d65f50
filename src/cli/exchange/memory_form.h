// A memory block as a person edits it: a text that says all that the block says, and the way back.
//
// A Text is its text, and no more. Everything else is TOML, each part under its own name:
//
//   Map         FIELD = VALUE
//   List        [[items]] with a member a line, or items = [ … ] where not all are objects
//   Log         [[entries]], oldest first, or entries = [ … ]
//   Composite   [SECTION], and in it the above; text = """…""" of a Text
//
// null, which TOML has not, is {"$" = "null"}; a key that is all '$' has one more of them. What is
// not set, and what agents may not write, stands in comments. Line by line the reading says what is
// wrong. Pure.
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

// What stands above the block, for a person to read.
struct FormHead {
    std::string label;
    std::string description;
    std::string permission;  // As the tools call it.
    std::int64_t version = 0;
};

// "txt" or "toml".
std::string_view form_extension(const memory::BlockSchema& schema);

// A text that does not end in a newline is given one, which read_form() takes off again: editors
// add it. O(value).
std::string write_form(const FormHead& head, const memory::BlockSchema& schema, const Value& value);

// What is left out of a form is left out of the value: read-only fields, sections, whatever a
// person took away; a List or Log without its items is empty. `shown` is the value that the form
// was written of: what is equal to a part of it is not checked. Errors: invalid_argument
// "invalid_form" {line}: "line 7: …".
Result<Value> read_form(std::string_view form, const memory::BlockSchema& schema,
                        const Value& shown);

// A part of what read_form() gives, as document/revision.h names it.
struct FormPlace {
    std::string section;
    std::string field = {};
    std::optional<std::size_t> index = {};  // Of an item or an entry.
};
// The line of a form in which it stands, or the section does that it is not in. None where it is in
// no section either, for a Text and for what is no form. O(form).
std::optional<std::size_t> line_of(std::string_view form, const memory::BlockSchema& schema,
                                   const FormPlace& place);

}  // namespace quire::cli

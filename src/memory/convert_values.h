// The small conversions that convert() is made of: a value of one kind read as a value of another,
// and a text taken apart by the names that it mentions. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "memory/block_schema.h"

namespace quire::memory::conversion {

// The text without blanks at either end.
std::string_view trimmed(std::string_view text);
// A name for comparison: trimmed, in lower case, with ' ' for '_'.
std::string folded(std::string_view name);
// The first line of a text, cut to what a report quotes.
std::string beginning(std::string_view text);

// The value at a path of names; null if there is none.
const Value* value_at(const Value& value, std::string_view path);

// Any value as one text: a list as "- item" lines, an object as "key: value" pairs.
std::string text_of(const Value& value);
// The content of a whole block as a text that texts_by_heading() and texts_by_line() take apart
// again.
std::string lines_from(const Value& value);
// The value as one of the field's type; nothing if it cannot be read as one.
std::optional<Value> field_from(const Field& field, const Value& value);
// The value as items of a List or entries of a Log. `lost` receives the number of elements that do
// not fit.
List elements_from(const BlockSchema& schema, const Value& value, std::size_t& lost);

// The parts of a text that belong to given names, and the rest.
struct NamedTexts {
    std::map<std::string, std::string> by_name;  // Indexed by folded name.
    std::string rest;
};
// Splits at headings: "=== NAME ===", "# NAME" or "## NAME".
NamedTexts texts_by_heading(std::string_view text, const std::vector<std::string>& names);
// Splits by lines "NAME: value", each with the "- item" lines below it.
NamedTexts texts_by_line(std::string_view text, const std::vector<std::string>& names);

}  // namespace quire::memory::conversion

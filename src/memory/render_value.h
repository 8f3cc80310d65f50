// Values, items and entries as lines for a reader.
#pragma once

#include <string>
#include <string_view>

#include "base/value.h"
#include "memory/block_schema.h"

namespace quire::memory {

// A string unchanged, true and false, numbers without a needless fraction; lists and objects
// compactly: [a, b], {k: v}.
std::string shown(const Value& value);
// Indents all lines but the first, so that they cannot pass for lines of their own.
std::string hanging(std::string_view text);

// "[x] title (priority: high)": a box if the item tells whether it is done, its title, name or
// first string, then the rest. Values other than objects are written as by shown().
std::string item_line(const Value& item);
// "[2025-01-23 14:32] (agent) text": the parts that the entry has, then its fields in schema order.
std::string entry_line(const LogSchema& log, const Value& entry, bool with_writer = true);

}  // namespace quire::memory

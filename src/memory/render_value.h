// Values, items and entries as lines for a reader.
#pragma once

#include <string>
#include <string_view>

#include "base/value.h"
#include "memory/block_schema.h"

namespace quire::memory {

// A string as it is, true and false, numbers without a needless fraction; lists and objects
// compactly: [a, b], {k: v}.
std::string shown(const Value& value);
// The lines after the first indented, so that they cannot be taken for lines of their own.
std::string hanging(std::string_view text);

// "[x] title (priority: high)": the box where the item says whether it is done, its title, name or
// first string, and the rest. Anything but an object is shown().
std::string item_line(const Value& item);
// "[2025-01-23 14:32] (agent) text": what the entry has of it, and its fields in the schema's
// order.
std::string entry_line(const LogSchema& log, const Value& entry);

}  // namespace quire::memory

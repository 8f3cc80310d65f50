// The argument `operations` of `file` with the operation edit: a list of line edits, told apart by
// "op" as operations of a tool are.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "edits/line_edit.h"
#include "edits/numbering.h"
#include "tools/operations.h"

namespace quire::tools {

// The place of an insert, in the words of the profile.
constexpr std::string_view where_inserted(bool full) {
    return full ? "before line" : "after line; 0: the top";
}

// The items of `operations`, as they are published: the rows insert, delete and replace, named by
// "op". `full` decides only the words for an insert's place.
Operations line_operations(bool full);

// The edits that a call gives, in its order, with lines counted from 0 and half-open whatever the
// caller's numbering. An insert needs no conversion. Errors: those of Operations::settle() and
// lines_asked(), with {operation}, the index of the item, where an argument is wrong.
Result<std::vector<edits::LineOp>> line_ops(std::vector<Map> items, edits::Numbering numbering);

}  // namespace quire::tools

// Revision: a person's changes to a memory block as it was shown, applied to the block as it is
// now.
//
// Only differences between the shown and the wanted version are written, each through the gate by
// MemoryEdit:
//
//   Text, Text fields  the smallest edit, merged with what others wrote meanwhile
//   Counter            the difference is added to what others added meanwhile
//   other fields       set; a field missing from the Map is unset, unless agents may not write it
//   List field         element by element, on the present list
//   items              by identity, wherever they have moved: of an object the members that
//                      differ; an item that another removed meanwhile returns as it was edited
//   entries of a Log   appended; existing ones stay as they are
//   sections           those in the value; a missing one stays as it is
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/memory_edit.h"
#include "memory/memory_reader.h"

namespace quire::memory {

// Two versions of a text with a common base, merged. If both changed the same words, `wanted` wins.
struct MergedText {
    std::string text;
    bool overlapped = false;
};
using MergeTexts =
    std::function<MergedText(std::string_view base, std::string_view now, std::string_view wanted)>;

// Applies the changes from `shown` to `wanted` to the edit's document; `shown` is a copy of an
// earlier version, or of the present one. After an error some changes have been made. Returns the
// places that others changed differently meanwhile and that now read as wanted: "FIELD",
// "SECTION/FIELD", "items[3]". A Counter gets both differences.
//
// Errors: those of MemoryEdit; schema_mismatch if `wanted` does not suit the schema; denied
// "log_entry" {section, index} if an existing entry differs. Each has {at}, the place in `wanted`:
// {section}, and {field} or {index} in it. O(document).
Result<std::vector<std::string>> revise(MemoryEdit& edit, const MemoryReader& shown,
                                        const Value& wanted, const MergeTexts& merge);

}  // namespace quire::memory

// Revision: what a person made of a memory block as it was shown to them, carried over to what the
// block has become since.
//
// Only what differs between the two is written, each difference through the gate by MemoryEdit:
//
//   Text, Text fields  the smallest edit; put together with what others wrote meanwhile
//   Counter            the difference is added, to what others added meanwhile
//   other fields       set; what is gone from the Map is unset, unless agents may not write it
//   List field         element by element, on what the list is now
//   items              by what they are, wherever they have moved: of an object the members that
//                      differ; an item that another took out meanwhile comes back as it was edited
//   entries of a Log   appended; those that are there stay as they are
//   sections           those that the value has; one that it leaves out stays as it is
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/memory_edit.h"
#include "memory/memory_reader.h"

namespace quire::memory {

// Two versions of a text that were made of one base, as one. Where both changed the same words
// `wanted` is shown.
struct MergedText {
    std::string text;
    bool overlapped = false;
};
using MergeTexts =
    std::function<MergedText(std::string_view base, std::string_view now, std::string_view wanted)>;

// Makes of the edit's document what `wanted` makes of `shown`, a copy of an earlier version of it,
// or of the same. An error leaves part of it done. Gives the places that others had changed too:
// "FIELD", "SECTION/FIELD", "items[3]". They had made something else of them, and they now read as
// `wanted` has them; but a Counter has both differences in it.
//
// Errors: those of MemoryEdit; schema_mismatch where `wanted` is not of the schema's kind; denied
// "log_entry" {section, index} where an entry that was there differs. Each has {at}, the place in
// `wanted` that it is of: {section}, and {field} or {index} in it. O(document).
Result<std::vector<std::string>> revise(MemoryEdit& edit, const MemoryReader& shown,
                                        const Value& wanted, const MergeTexts& merge);

}  // namespace quire::memory

// Byte splices and wanted values, applied as ops of a document's pending transaction.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "crdt/doc/doc.h"
#include "text/sequence_diff.h"
#include "text/units.h"

namespace quire::memory {

// Requires splices that are ascending, do not overlap and lie on code point boundaries of a living
// text.
void apply(crdt::Doc& doc, crdt::Handle text, std::span<const text::Splice> splices);

// Returns true if the splices only insert at the end of a text of `size` bytes.
bool only_appends(std::span<const text::Splice> splices, text::Byte size);

// Changes the text to `wanted`, which is well-formed UTF-8, by the smallest edit (text/diff.h).
void rewrite(crdt::Doc& doc, crdt::Handle text, std::string_view wanted);
// The stretches that were replaced; equal elements in order are kept (Myers).
std::vector<text::Replaced> difference(const List& before, const List& after);
// Changes the list to `wanted` and keeps the elements that difference() keeps.
void rewrite(crdt::Doc& doc, crdt::Handle list, const List& wanted);

}  // namespace quire::memory

// Byte splices and wanted values, carried out as ops of a document's pending transaction.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "crdt/doc/doc.h"
#include "text/sequence_diff.h"
#include "text/units.h"

namespace quire::memory {

// Ascending, non-overlapping splices of a text that is alive, on code point boundaries.
void apply(crdt::Doc& doc, crdt::Handle text, std::span<const text::Splice> splices);

// Whether they do no more than to put something at the end of a text of so many bytes.
bool only_appends(std::span<const text::Splice> splices, text::Byte size);

// Makes the text read `wanted`, of well-formed UTF-8, by the smallest edit (text/diff.h).
void rewrite(crdt::Doc& doc, crdt::Handle text, std::string_view wanted);
// Which elements became which; those that are equal and in order stay (Myers).
std::vector<text::Replaced> difference(const List& before, const List& after);
// Makes the list hold `wanted`: those that difference() keeps stay, the others go.
void rewrite(crdt::Doc& doc, crdt::Handle list, const List& wanted);

}  // namespace quire::memory

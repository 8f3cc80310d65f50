// The place of a conflict in its document: made of cursors, and found again after later edits. On
// the document's strand.
#pragma once

#include <cstddef>
#include <string>

#include "crdt/doc/doc.h"
#include "files/conflict.h"
#include "kernel/core/live_document.h"

namespace quire::kernel {

// A part of a text, in bytes.
struct TextPart {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// The region of [begin, end) of the text, with no transaction begun. O(log n), once the text's
// order of atoms is built.
files::Region region_of(const crdt::Doc& doc, crdt::Handle text, TextPart part);
// The place of the region now, in whole lines; the whole text if the document does not know its
// characters any more.
TextPart place_of(const crdt::Doc& doc, const files::Region& region, crdt::Handle text);

// The actor who wrote the newest of the part's characters that are not in `known`; where there are
// none, the one whose newest change is not. "" if nobody changed anything. Looks at the first 10,000 characters.
std::string writer_of(LiveDocument& document, TextPart part, const files::Version& known);

}  // namespace quire::kernel

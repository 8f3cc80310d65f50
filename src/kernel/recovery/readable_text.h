// A document of the store as text, as far as it can be read.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "store/store.h"

namespace quire::kernel {

// The parts of a document that are left.
struct ReadableText {
    std::string text = {};                 // For people.
    Bytes changes = {};                    // The changes behind the text, as a Loro blob.
    std::vector<std::string> faults = {};  // Each thing that is missing, and why.
    // The stored pieces, where they could not all be put together.
    std::vector<Bytes> pieces = {};

    bool is_lost() const { return changes.empty() && pieces.empty() && !faults.empty(); }
};

// Builds what can be built. A text with missing changes is an earlier or an incomplete version of
// the document, and `faults` says so. O(history).
ReadableText read_text_of(const store::DocumentRecord& record, store::ReadableDocument readable);

}  // namespace quire::kernel

// Replay: a document built from what the store has of it, and checked against itself.
//
// Its records say the same thing more than once: a unit of history names the version of the document
// that it made, a block's version covers its units, and every writer has a number. So what is missing
// is noticed, also at the end of a history, where nothing depends on it. A document that fails a
// check is not loaded: its calls are answered with the error, and others go on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "conversation/conversation.h"
#include "crdt/doc/doc.h"
#include "kernel/core/history.h"
#include "store/store.h"

namespace quire::kernel {

// Error: corrupt {document, kind}, naming the document by its id, for which nobody needs a
// permission: "the file b7 is damaged: WHAT".
Failure damaged_document(const store::DocumentRecord& record, std::string_view what);

// The document, with what its records say beside its content.
struct ReplayedDocument {
    struct Block {
        std::uint64_t version = 0;  // The highest that it has, or that may have been given out.
        std::uint64_t newest = 0;   // That of its newest unit.
        History history = {};
    };
    std::unique_ptr<crdt::Doc> doc;
    std::unique_ptr<conversation::Conversation> conversation;  // Null for other kinds.
    std::map<std::string, Block> blocks = {};                  // The key is BlockRecord::block.
    std::vector<store::PeerRecord> peers = {};                 // The index is the peer's number.
};

// Builds the document. `peer` is its own until somebody writes to it. O(history). Errors:
// damaged_document().
Result<ReplayedDocument> replay(const store::DocumentRecord& record, store::StoredDocument stored,
                                crdt::PeerId peer);

// The header of a block's record: nothing, or the version up to which others were given out.
Bytes reservation(std::uint64_t version, std::uint64_t reserved);

}  // namespace quire::kernel

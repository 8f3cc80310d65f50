// DocumentFeed: what one document's readers are told. While somebody listens, it remembers each block
// that is looked at as it stands, and captures what a transaction makes of it. Nothing is computed
// from the texts here: copies of a rope cost nothing, and BlockFeed compares them elsewhere. Only
// memory, whose text is drawn, and updates that somebody wants are made on the document's strand.
//
// On its document's strand.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crdt/doc/history.h"
#include "kernel/core/block_event.h"
#include "kernel/core/live_document.h"
#include "memory/field_path.h"

namespace quire::kernel {

class BlockFeed;

class DocumentFeed {
public:
    DocumentFeed(LiveDocument& document, BlockFeed& feed) : document_(document), feed_(feed) {}

    // A block is looked at, and may be changed next. Keeps the block as it stands, unless that was
    // done since the last version. O(1), but for memory, whose text is drawn.
    void see(const BlockRef& block);
    // A transaction begins: what it changes is told from here on.
    void begin();
    // The block has a new version, by this unit, which is not in its history yet.
    void record(const BlockRef& block, const Unit& unit, std::uint64_t calls);
    // The transaction is complete; it is told of once it is stored.
    void finish();
    // The document, which is one block, was stored before anybody could look at it: tells of the
    // block as it is now.
    void arrived();

private:
    struct Captured {
        BlockStep step;
        std::string key;  // BlockState::key.
        Bytes header;     // The record's, when a text was drawn by it.
    };
    BlockFacts facts_of(const BlockRef& block, Map* metadata) const;
    // The step that leads to the block's version, which `calls` raised it to.
    BlockStep step_to(const BlockRef& block, const std::string& actor, std::uint64_t calls) const;
    std::vector<BlockStep> take_captured();

    LiveDocument& document_;
    BlockFeed& feed_;
    std::map<std::string, BlockFacts, std::less<>> seen_;  // Keyed by BlockState::key.
    crdt::Frontiers heads_;                                // Before what is captured next,
    std::string label_;                                    // and the document's name.
    std::vector<Captured> captured_;
};

// The place in a memory block that a difference is in, as far as it is one.
memory::FieldPath place_of_change(const crdt::Doc& doc, const crdt::Diff& diff);
// The operations that lead from one version to another, as Loro updates. Errors: those of
// crdt::History::spans_between().
Result<Bytes> updates_between(const crdt::Doc& doc, const crdt::Frontiers& from,
                              const crdt::Frontiers& to);
// The names under which an event tells of a document: path, or label and owner.
void name_document(BlockEvent& event, const store::DocumentRecord& record);
// Returns true if the unit made its block, or its document.
bool is_creation(const Unit& unit, bool is_first);

}  // namespace quire::kernel

// Conversation: how a conversation's blocks lie in a document, and the index over them.
//
// The root List `blocks` holds one Map a block, in document order; a block is known by the atom
// that made its Map. The Map holds role, kind, status, parent, author, created_ms, metadata and
// deleted, and the block's text in a child Text `content`. A parent is named "COUNTER@PEER".
// Deleting sets a flag: the text, the children and their links stay.
//
// Changing calls add ops to the document's pending transaction; committing is the caller's. Belongs
// to the document's strand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crdt/doc/doc.h"

namespace quire::conversation {

struct ConversationBlock {
    crdt::OpId id;
    crdt::Handle fields{};
    crdt::Handle content{};
    std::optional<crdt::OpId> parent;
    std::string role;
    std::string kind;
    std::string status;
    std::string author;
    std::int64_t created_ms = 0;
    Map metadata;
    bool deleted = false;
};

struct NewBlock {
    std::optional<crdt::OpId> parent;
    std::optional<crdt::OpId> after;  // None: after all others.
    std::string role;
    std::string kind;
    std::string status;
    std::string author;
    std::int64_t created_ms = 0;
    Map metadata;
    std::string content;
};

class Conversation {
public:
    // Reads what is there. O(blocks). `doc` outlives this.
    explicit Conversation(crdt::Doc& doc);

    // Null for an atom that made no block. Deleted blocks are found: they say so. Valid until the
    // next create().
    const ConversationBlock* find(crdt::OpId id) const;
    std::size_t size() const { return blocks_.size(); }
    const ConversationBlock& at(std::size_t index) const {
        return blocks_[index];
    }  // In order of creation here.

    struct Visit {
        const ConversationBlock* block;
        std::size_t depth;  // 0 for the first level.
    };
    // The live blocks below `parent` (or the roots), parents before children, siblings in document
    // order, at most `levels` deep (0: all). A deleted block is passed over and its children stand
    // in its place; with `deleted_too` it is visited itself. O(visited).
    std::vector<Visit> walk(std::optional<crdt::OpId> parent, std::size_t levels,
                            bool deleted_too = false) const;

    // CHECKs that parent and after are blocks of this conversation.
    crdt::OpId create(const NewBlock& block);
    void set_status(crdt::OpId id, std::string_view status);
    void set_deleted(crdt::OpId id, bool deleted);
    // Reads a block's fields anew, after its Map was changed from elsewhere (undo).
    void refresh(crdt::OpId id);

private:
    using Index = std::size_t;
    void read(std::size_t list_index);
    void link(Index block);
    void load_fields(ConversationBlock& block) const;
    ConversationBlock& known(crdt::OpId id);

    crdt::Doc& doc_;
    crdt::Handle list_;
    std::vector<ConversationBlock> blocks_;
    std::unordered_map<crdt::OpId, Index> by_id_;
    std::map<std::optional<crdt::OpId>, std::vector<Index>> children_;  // In document order.
};

}  // namespace quire::conversation

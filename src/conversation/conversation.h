// Conversation: the layout of a conversation's blocks in a document, and an index over them.
//
// The root List `blocks` holds one Map per block, in document order; a block's id is the atom
// that made its Map. The Map holds role, kind, status, parent, author, created_ms, metadata,
// deleted and the marks, and the block's text in a child Text `content`. A parent is written
// "COUNTER@PEER"; blocks whose parents form a cycle, as only another program can write it, count as
// roots. Deletion sets a flag: the text, the children and their links stay.
//
// A tool_call has at most one tool_result that is not deleted, and is its parent. The callers keep
// this rule; answer_to() tells what they need.
//
// Changing calls add ops to the document's pending transaction, which the caller commits.
// Everything runs on the document's strand.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/key_index.h"
#include "conversation/block.h"
#include "crdt/doc/doc.h"

namespace quire::conversation {

// The words of a block. Unknown ones are kept, since other programs may write them. Thousands of blocks
// have the same, so that a conversation has each combination once.
struct BlockWords {
    std::string role;
    std::string kind;
    std::string status;
    std::string author;
    friend auto operator<=>(const BlockWords&, const BlockWords&) = default;
};

// A block as the index knows it: a copy of its fields, and handles to its Map and its Text. The
// text itself stays in the document. A field that is missing or of a wrong type has its default:
// role "user", kind "text", status "done", author "".
struct ConversationBlock {
    crdt::OpId id;
    crdt::Handle fields{};
    crdt::Handle content{};
    std::optional<crdt::OpId> parent;
    const BlockWords* words = nullptr;  // Never null in a conversation, which has them.
    std::int64_t created_ms = 0;
    Map metadata;
    Marks marks;
    bool deleted = false;

    const std::string& role() const { return words->role; }
    const std::string& kind() const { return words->kind; }
    const std::string& status() const { return words->status; }
    const std::string& author() const { return words->author; }
};

// The fields of a new block. The words are written as they are given; nothing here checks them
// against the enums of block.h. An empty metadata, a mark that is not set and an empty content are
// not written at all.
struct NewBlock {
    std::optional<crdt::OpId> parent;
    std::optional<crdt::OpId> after;  // None: after all others.
    std::string role;
    std::string kind;
    std::string status;
    std::string author;
    std::int64_t created_ms = 0;
    Map metadata;
    Marks marks;
    std::string content;
};

// The blocks of one document.
class Conversation {
public:
    // Reads all blocks of the document, which outlives this. O(blocks).
    explicit Conversation(crdt::Doc& doc);
    Conversation(const Conversation&) = delete;
    Conversation& operator=(const Conversation&) = delete;
    ~Conversation() = default;

    // The block that this atom made, deleted or not; null if it made none. Valid until the next
    // create().
    const ConversationBlock* find(crdt::OpId id) const;
    std::size_t size() const { return blocks_.size(); }
    const ConversationBlock& at(std::size_t index) const {
        return blocks_[index];
    }  // In order of creation here.

    // One step of a walk.
    struct Visit {
        const ConversationBlock* block;
        std::size_t depth;  // 0 for the first level.
    };
    // The live blocks below `parent` (or all roots), parents before children, siblings in document
    // order, at most `levels` deep (0: all). A deleted block is skipped and its children take its
    // place; with `deleted_too` it is visited as well. A parent that is no block has no children.
    // Valid until the next create(). O(visited).
    std::vector<Visit> walk(std::optional<crdt::OpId> parent, std::size_t levels,
                            bool deleted_too = false) const;

    // The tool_result that a tool_call has, if it is not deleted; null for none, and for a block
    // that is no tool_call. Where another program wrote two, the first in document order counts.
    // O(children).
    const ConversationBlock* answer_to(crdt::OpId call) const;

    // Adds a block and returns its id. CHECKs that the parent is a block of this conversation; one
    // `after` an unknown block becomes the last. O(log blocks) where it is the last of its
    // siblings.
    crdt::OpId create(const NewBlock& block);
    // Changes of a block. CHECKs that it exists. Each writes one field, and set_marks() those that
    // differ; concurrent changes by others merge by field, and the later one wins.
    void set_status(crdt::OpId id, std::string_view status);
    void set_deleted(crdt::OpId id, bool deleted);
    void set_marks(crdt::OpId id, const Marks& marks);
    // Reads a block's fields but its parent again, after undo or an import changed its Map. A Map that became
    // known by an import is not found by this: the index has to be made anew. CHECKs that the block
    // exists. O(fields).
    void refresh(crdt::OpId id);

private:
    using Index = std::uint32_t;
    // Reads a block of the list. Returns true if its parent is not known yet.
    bool read(std::size_t list_index);
    // Makes roots of blocks that are below themselves.
    void cut_cycles();
    Index append(ConversationBlock block);
    void link(Index block);
    void load_fields(ConversationBlock& block);
    void set_words(ConversationBlock& block, BlockWords words);
    ConversationBlock& known(crdt::OpId id);

    crdt::Doc& doc_;
    crdt::Handle list_;
    std::set<BlockWords> words_;  // Every combination that a block has or had.
    std::deque<ConversationBlock> blocks_;
    KeyIndex<ConversationBlock, crdt::OpId, &ConversationBlock::id> by_id_{blocks_};
    std::map<std::optional<crdt::OpId>, std::vector<Index>> children_;  // In document order.
};

}  // namespace quire::conversation

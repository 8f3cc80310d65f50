// The index is three tables: the blocks in the order in which they became known, their places by
// id, and the children of each parent in document order. Opening reads each block's Map once,
// O(blocks); afterwards each change updates the tables. Other programs may write these Maps, so a
// field of the wrong type reads as its default instead of making the conversation unreadable.
//
// The list has the document's order over all blocks, whoever their parents are. A child table holds
// places of blocks in that order, so a walk needs no sorting; it keeps a stack of its own and not
// the program's, since other programs decide how deep a conversation is. Words repeat from block to
// block, so each combination is stored once and blocks point at it.
#include "conversation/conversation.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/concat.h"
#include "base/must.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"

namespace quire::conversation {

namespace {

constexpr std::string_view kBlocks = "blocks";
constexpr std::string_view kText = "content";

std::string text_of_id(crdt::OpId id) {
    return cat(id.counter, "@", id.peer);
}

// Reads "COUNTER@PEER" and nothing else: a parent that another program wrote otherwise makes the
// block a root.
std::optional<crdt::OpId> parse_name(std::string_view text) {
    const std::size_t at = text.find('@');
    if (at == std::string_view::npos) return std::nullopt;
    crdt::OpId id;
    const char* counter_end = text.data() + at;
    const char* end = text.data() + text.size();
    const auto counter = std::from_chars(text.data(), counter_end, id.counter);
    const auto peer = std::from_chars(counter_end + 1, end, id.peer);
    if (counter.ec != std::errc() || counter.ptr != counter_end || peer.ec != std::errc() ||
        peer.ptr != end) {
        return std::nullopt;
    }
    return id;
}

// Other programs may write any type under a key: a wrong one reads as the fallback.
const Value* plain(const std::optional<crdt::Slot>& slot) {
    return slot ? std::get_if<Value>(&*slot) : nullptr;
}

std::string string_or(const std::optional<crdt::Slot>& slot, std::string_view fallback) {
    const Value* value = plain(slot);
    return value != nullptr && value->is_string() ? value->as_string() : std::string(fallback);
}

}  // namespace

Conversation::Conversation(crdt::Doc& doc)
    : doc_(doc),
      list_(doc.open(crdt::ContainerId::root(std::string(kBlocks), crdt::ContainerKind::list))) {
    const std::size_t count = doc_.list(list_).size();
    bool any_ahead = false;
    for (std::size_t i = 0; i < count; ++i) any_ahead |= read(i);
    if (any_ahead) cut_cycles();
}

const ConversationBlock* Conversation::find(crdt::OpId id) const {
    const std::optional<Index> at = by_id_.find(id);
    return at ? &blocks_[*at] : nullptr;
}

ConversationBlock& Conversation::known(crdt::OpId id) {
    const std::optional<Index> at = by_id_.find(id);
    CHECK(at.has_value());
    return blocks_[*at];
}

// A cycle has a block that stands before its parent, or is its own. So the pass over all is needed
// for such documents only.
bool Conversation::read(std::size_t list_index) {
    const crdt::Slot slot = doc_.list(list_).get(list_index);
    const auto* kind = std::get_if<crdt::ContainerKind>(&slot);
    if (kind == nullptr || *kind != crdt::ContainerKind::map) return false;  // Not a block of ours.

    ConversationBlock block;
    block.id = doc_.list(list_).id(list_index);
    block.fields = doc_.open(crdt::ContainerId::normal(block.id, crdt::ContainerKind::map));
    load_fields(block);
    const auto content = doc_.map(block.fields).child(kText);
    // A Map without its text is not finished, or is not a block.
    if (!content || content->kind != crdt::ContainerKind::text) return false;
    block.content = doc_.open(*content);

    // The constructor reads the list from its begin, so each block comes behind its siblings and
    // needs no link().
    const bool is_ahead = block.parent && find(*block.parent) == nullptr;
    const Index index = append(std::move(block));
    children_[blocks_[index].parent].push_back(index);
    return is_ahead;
}

// Another program may write any parent. Each block of a cycle becomes a root, which depends on the
// document alone, and what hangs on it follows. Marks the blocks on the way up from each one, and
// stops at those that an earlier way has met: O(blocks).
void Conversation::cut_cycles() {
    constexpr Index kNever = 0;
    std::vector<Index> ways(blocks_.size(), kNever);  // The way that met a block first, from 1.
    std::vector<Index> cyclic;
    for (Index start = 0; start < blocks_.size(); ++start) {
        const auto above = [&](Index block) {
            const auto& parent = blocks_[block].parent;
            return parent ? by_id_.find(*parent) : std::nullopt;
        };
        std::optional<Index> at = start;
        for (; at && ways[*at] == kNever; at = above(*at)) ways[*at] = start + 1;
        if (!at || ways[*at] != start + 1) continue;
        const Index met = *at;
        do {
            cyclic.push_back(*at);
            at = above(*at);
        } while (*at != met);
    }
    for (const Index block : cyclic) {
        std::erase(children_[blocks_[block].parent], block);
        blocks_[block].parent.reset();
        link(block);
    }
}

void Conversation::set_words(ConversationBlock& block, BlockWords words) {
    block.words = &*words_.insert(std::move(words)).first;
}

void Conversation::load_fields(ConversationBlock& block) {
    const auto field = [&](std::string_view key) { return doc_.map(block.fields).get(key); };
    set_words(block, {string_or(field("role"), "user"), string_or(field("kind"), "text"),
                      string_or(field("status"), "done"), string_or(field("author"), "")});
    block.parent = parse_name(string_or(field("parent"), ""));
    const auto created = field("created_ms");
    const Value* ms = plain(created);
    // A program that has only doubles, such as a browser, writes a time as a float.
    block.created_ms =
        ms != nullptr && ms->is_number() ? static_cast<std::int64_t>(ms->as_number()) : 0;
    const auto metadata = field("metadata");
    const Value* map = plain(metadata);
    block.metadata = map != nullptr && map->is_map() ? map->as_map() : Map();
    const auto is_set = [&](std::string_view key) {
        const auto slot = field(key);
        const Value* flag = plain(slot);
        return flag != nullptr && flag->is_bool() && flag->as_bool();
    };
    block.deleted = is_set("deleted");
    for (const MarkField& mark : kMarkFields) block.marks.*mark.flag = is_set(mark.key);
}

Conversation::Index Conversation::append(ConversationBlock block) {
    const auto index = static_cast<Index>(blocks_.size());
    blocks_.push_back(std::move(block));
    by_id_.add(index);
    return index;
}

// Puts a block among its siblings, where the list has it. Mostly it is the last one, which costs
// two look-ups; otherwise a binary search, each step of it a look-up in the list: O(log² n).
void Conversation::link(Index block) {
    std::vector<Index>& siblings = children_[blocks_[block].parent];
    const auto place = [&](Index i) {
        return doc_.list(list_).index_of(blocks_[i].id).value_or(0);
    };
    const std::size_t here = place(block);
    if (siblings.empty() || place(siblings.back()) < here) {
        siblings.push_back(block);
        return;
    }
    const auto at = std::partition_point(siblings.begin(), siblings.end(),
                                         [&](Index sibling) { return place(sibling) < here; });
    siblings.insert(at, block);
}

std::vector<Conversation::Visit> Conversation::walk(std::optional<crdt::OpId> parent,
                                                    std::size_t levels, bool deleted_too) const {
    struct Frame {
        const std::vector<Index>* siblings;
        std::size_t next;
        std::size_t depth;
    };
    std::vector<Visit> visits;
    std::vector<Frame> stack;
    const auto descend = [&](const std::optional<crdt::OpId>& of, std::size_t depth) {
        const auto at = children_.find(of);
        if (at != children_.end() && (levels == 0 || depth < levels))
            stack.push_back({&at->second, 0, depth});
    };
    descend(parent, 0);
    while (!stack.empty()) {
        Frame& frame = stack.back();
        if (frame.next == frame.siblings->size()) {
            stack.pop_back();
            continue;
        }
        const ConversationBlock& block = blocks_[(*frame.siblings)[frame.next++]];
        const std::size_t depth = frame.depth;
        if (!block.deleted || deleted_too) visits.push_back({&block, depth});
        // The children of a deleted block are visited at its own depth, so that they take its
        // place.
        descend(block.id, block.deleted ? depth : depth + 1);
    }
    return visits;
}

const ConversationBlock* Conversation::answer_to(crdt::OpId call) const {
    const auto children = children_.find(call);
    if (children == children_.end()) return nullptr;
    for (const Index child : children->second) {
        const ConversationBlock& block = blocks_[child];
        if (block.kind() == "tool_result" && !block.deleted) return &block;
    }
    return nullptr;
}

// Adds the Map, its fields and the text as ops of one pending transaction: others never see a block
// that lacks a part. Fields at their default are not written, which saves an op for each mark.
crdt::OpId Conversation::create(const NewBlock& block) {
    CHECK(!block.parent || find(*block.parent) != nullptr);
    std::size_t index = doc_.list(list_).size();
    // An `after` that is not in the list puts the block at the end.
    if (block.after) index = doc_.list(list_).index_of(*block.after).value_or(index - 1) + 1;

    const crdt::ContainerId id =
        must(doc_.list(list_).insert_container(index, crdt::ContainerKind::map));
    const crdt::Handle fields = doc_.open(id);
    const auto set = [&](std::string_view key, Value value) {
        must(doc_.map(fields).set(key, std::move(value)));
    };
    set("role", block.role);
    set("kind", block.kind);
    set("status", block.status);
    set("author", block.author);
    set("created_ms", block.created_ms);
    if (block.parent) set("parent", text_of_id(*block.parent));
    if (!block.metadata.empty()) set("metadata", block.metadata);
    for (const MarkField& mark : kMarkFields) {
        if (block.marks.*mark.flag) set(mark.key, true);
    }
    const crdt::ContainerId content =
        must(doc_.map(fields).insert_container(kText, crdt::ContainerKind::text));
    if (!block.content.empty()) must(doc_.text(doc_.open(content)).insert({0}, block.content));

    ConversationBlock made;
    made.id = id.op();
    made.fields = fields;
    made.content = doc_.open(content);
    // The index reads back what the document now has, as it would after a restart.
    load_fields(made);
    link(append(std::move(made)));
    return id.op();
}

void Conversation::set_status(crdt::OpId id, std::string_view status) {
    ConversationBlock& block = known(id);
    must(doc_.map(block.fields).set("status", std::string(status)));
    BlockWords words = *block.words;
    words.status = status;
    set_words(block, std::move(words));
}

void Conversation::set_deleted(crdt::OpId id, bool deleted) {
    ConversationBlock& block = known(id);
    must(doc_.map(block.fields).set("deleted", deleted));
    block.deleted = deleted;
}

void Conversation::set_marks(crdt::OpId id, const Marks& marks) {
    ConversationBlock& block = known(id);
    for (const auto& [key, flag] : kMarkFields) {
        if (block.marks.*flag != marks.*flag) must(doc_.map(block.fields).set(key, marks.*flag));
    }
    block.marks = marks;
}

// The block keeps the parent and the siblings that it had: no call of ours gives it others, and one
// that another program wrote could make a cycle.
void Conversation::refresh(crdt::OpId id) {
    ConversationBlock& block = known(id);
    const std::optional<crdt::OpId> parent = block.parent;
    load_fields(block);
    block.parent = parent;
}

}  // namespace quire::conversation

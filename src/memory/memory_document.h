// MemoryDocument: a memory block as a library object that writes, commits, undoes and notifies. The
// kernel commits in its own way and uses only MemoryEdit and MemoryReader.
//
//     MemoryDocument notes(doc, block, {Actor{agent, "ada"}, rights}, clock);
//     notes.edit().set_field({"", "status"}, "busy");            // One commit.
//     {
//         const auto batch = notes.batch("tidy");                // One commit for both.
//         notes.edit().append_to_list({"", "tags"}, "new");
//         notes.edit().set_field({"", "status"}, "idle");
//     }
//
// Every commit's message is an attribution (attribution.h): that of the write itself, as in
// "agent:ada:set_field:status", that of a batch, or the one set for the next commit.
// Thread-confined; the document and the clock must outlive it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "crdt/doc/events.h"
#include "crdt/undo/undo_history.h"
#include "memory/memory_edit.h"

namespace quire::memory {

// The effect of a commit, an import or a checkout on one section.
struct ContentEvent {
    std::string section;  // "" where the block has none.
    std::optional<policy::Attribution>
        by;  // None for what was imported, and for other programs' messages.
    crdt::Event::By origin = crdt::Event::By::local;
    crdt::Diff diffs;  // Only of the section's containers.
};
using OnContent = Function<void(const ContentEvent&)>;

// One writer's handle on a memory block.
class MemoryDocument final : private AfterWrite {
public:
    MemoryDocument(crdt::Doc& doc, MemoryBlock block, Writer accessor, const Clock& clock);
    MemoryDocument(const MemoryDocument&) = delete;
    MemoryDocument& operator=(const MemoryDocument&) = delete;
    ~MemoryDocument() override = default;

    const std::string& label() const { return block_.label; }
    const policy::Actor& accessor() const { return accessor_.actor; }
    const MemoryBlock& block() const { return block_; }

    MemoryReader reader() const { return {doc_, block_.schema}; }
    // Writes by the accessor, or by another writer. Each write is one commit unless a batch is
    // open.
    MemoryEdit edit() { return edit(accessor_); }
    MemoryEdit edit(Writer by);

    // While a batch lives, writes wait for one commit at its end. A batch within a batch does
    // nothing.
    class [[nodiscard]] Batch {
    public:
        Batch(Batch&& other) noexcept : document_(std::exchange(other.document_, nullptr)) {}
        Batch& operator=(Batch&&) = delete;
        Batch(const Batch&) = delete;
        Batch& operator=(const Batch&) = delete;
        ~Batch();

    private:
        friend class MemoryDocument;
        explicit Batch(MemoryDocument* document) : document_(document) {}
        MemoryDocument* document_;  // Null for a batch that does nothing.
    };
    Batch batch(const policy::Actor& actor, std::string_view what);
    Batch batch(std::string_view what) { return batch(accessor_.actor, what); }

    // Sets the message of the next commit that is not empty, even if an open batch makes it.
    void set_attribution(std::string message) { attribution_ = std::move(message); }
    // Sets the message "agent:ada:OP", or "agent:ada:OP:DETAIL" for "OP:DETAIL". The first colon
    // ends the operation; the detail keeps the others, escaped.
    void auto_attribution(std::string_view what);
    // Ends the transaction. If it is empty, so is the commit, and the attribution is kept.
    crdt::Commit commit();
    crdt::Commit commit_with_attribution(std::string message);

    // Notifies of every commit, import and checkout; of those to one container; or of those to the
    // block's content, once per section. Ends with the subscription.
    crdt::Subscription subscribe_root(crdt::OnEvent callback);
    crdt::Subscription subscribe(const crdt::ContainerId& container, crdt::OnEvent callback);
    crdt::Subscription subscribe_content(OnContent callback);

    // Undoes or redoes one commit of the document's peer (crdt/undo/undo_history.h). True if the
    // document changed. Undoing counts as overwriting and has the same errors.
    Result<bool> undo() { return step(crdt::UndoDirection::undo); }
    Result<bool> redo() { return step(crdt::UndoDirection::redo); }
    bool can_undo() const { return history_.can_undo(); }
    bool can_redo() const { return history_.can_redo(); }

private:
    void wrote(const policy::Attribution& what) override;
    Result<bool> step(crdt::UndoDirection direction);

    crdt::Doc& doc_;
    MemoryBlock block_;
    Writer accessor_;
    const Clock& clock_;
    crdt::UndoHistory history_;
    bool batching_ = false;
    std::optional<std::string> attribution_;
    std::string pending_;  // The description of the last write, until it is committed.
};

}  // namespace quire::memory

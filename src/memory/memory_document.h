// MemoryDocument: a memory block for one who uses it as a library: it writes, commits, takes back
// and listens. The kernel, which commits in its own way, uses MemoryEdit and MemoryReader alone.
//
//     MemoryDocument notes(doc, block, {Actor{agent, "ada"}, rights}, clock);
//     notes.edit().set_field({"", "status"}, "busy");            // One commit.
//     {
//         const auto batch = notes.batch("tidy");                // One commit for both.
//         notes.edit().append_to_list({"", "tags"}, "new");
//         notes.edit().set_field({"", "status"}, "idle");
//     }
//
// Every commit's message is an attribution (attribution.h): the write's own, "agent:ada:set_field:
// status", a batch's, or what was set for the next commit. Thread-confined; the document and the
// clock outlive this.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "crdt/doc/undo.h"
#include "memory/memory_edit.h"

namespace quire::memory {

// What a commit, an import or a checkout did to one section.
struct ContentEvent {
    std::string section;  // "" where the block has none.
    std::optional<policy::Attribution>
        by;  // None for what was imported, and for other programs' messages.
    crdt::Event::By origin = crdt::Event::By::local;
    crdt::Diff diffs;  // Of the containers that are the section's.
};
using OnContent = Function<void(const ContentEvent&)>;

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
    // Writes by the accessor, or by another. Each is a commit of its own while no batch is open.
    MemoryEdit edit() { return edit(accessor_); }
    MemoryEdit edit(Writer by);

    // While it lives, writes wait for one commit, at its end. Inside another batch it does nothing.
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
        MemoryDocument* document_;  // Null for one that does nothing.
    };
    Batch batch(const policy::Actor& actor, std::string_view what);
    Batch batch(std::string_view what) { return batch(accessor_.actor, what); }

    // The message of the next commit that holds something, also of one that an open batch will
    // make.
    void set_attribution(std::string message) { attribution_ = std::move(message); }
    // The same, as "agent:ada:OPERATION".
    void auto_attribution(std::string_view operation);
    // Ends the transaction; empty, and the attribution kept, where it holds nothing.
    crdt::Commit commit();
    crdt::Commit commit_with_attribution(std::string message);

    // Every commit, import and checkout; those to one container; those to the block's content, once
    // for each section that they touch. Told while the subscription lives.
    crdt::Subscription subscribe_root(crdt::OnEvent callback);
    crdt::Subscription subscribe(const crdt::ContainerId& container, crdt::OnEvent callback);
    crdt::Subscription subscribe_content(OnContent callback);

    // The commits of the document's peer, one step each (crdt/doc/undo.h). True when the document
    // changed. To undo is to overwrite: errors as for that.
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
    std::string pending_;  // What the last write says of itself, until it is committed.
};

}  // namespace quire::memory

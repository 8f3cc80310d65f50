// Kernel: the use cases, value in and Reply out. It owns the live documents, each on its strand,
// and runs the pipeline: commit, encode once, store, publish. It sequences and holds no rules.
//
// Every reply comes exactly once, from any thread. What a reply says is durable. A read answers
// from the latest state, and not before that state is durable.
//
// Errors that any call may give: not_found "invalid_reference" for an id that names nothing;
// unavailable "disk_full", "store_failed", "kernel_ending".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "edits/plan.h"
#include "kernel/core/block_edits.h"
#include "kernel/core/caller.h"

namespace quire::edits {
struct Finding;
}
namespace quire::store {
struct DocumentRecord;
}

namespace quire::kernel {

class Core;
class Oversight;
struct Blame;
struct BlockDiff;
struct BlockText;
struct HistoryEntry;
struct HistoryPage;
struct Limits;
struct ListPage;
struct ListQuery;
struct LogEntry;
struct Parts;
struct SearchQuery;
struct WholeText;

// The place of a block.
struct BlockPlace {
    std::string kind;  // kinds.h; "" for none.
    std::string path = {};
    std::string conversation = {};
};

// Counters for `quire status`.
struct Status {
    std::size_t documents = 0;
    std::size_t live_documents = 0;  // Those in memory,
    std::size_t resident_bytes = 0;  // and what they take there, as they estimate it.
    std::size_t sessions = 0;
    std::uint64_t calls = 0;
    std::uint64_t commits = 0;
};

// unavailable "kernel_ending": the call came to a kernel that ends, and nothing was done.
Error kernel_ending();

// Every call takes its caller first and its Reply last. Calls of one caller to one document take
// effect in the order in which they are made.
class Kernel {
public:
    // `known`: the documents that the store has; each is loaded when it is first used. Programs open
    // a kernel with open_kernel() (kernel/oversight/overseer.h).
    static std::unique_ptr<Kernel> open(const Parts& parts,
                                        std::vector<store::DocumentRecord> known,
                                        std::shared_ptr<Oversight> oversight);
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    ~Kernel();
    // Flushes what was accepted; replies when all of it is durable. Call once, before the end.
    void close(Reply<void> reply);

    // Creates a block in a conversation; the first block of a conversation creates it. Errors:
    // not_found "invalid_reference"; out_of_range "too_large"; conflict "token_used" {block_id}.
    void create(Caller by, BlockCreate what, Reply<BlockVersion> reply);
    // Sets the status of a conversation block. Errors: those of conversation::check_transition();
    // invalid_argument "invalid_argument" for a file.
    void set_status(Caller by, std::string block_id, conversation::Status status,
                    Reply<BlockVersion> reply);
    // Appends text to a block. See Ack for what the answer promises. Errors: out_of_range
    // "too_large".
    void append(Caller by, std::string block_id, std::string text, Ack ack, Reply<Appended> reply);
    // Runs `plan` on the text and applies what it gives, all or nothing: one version, one undo
    // unit. `operation` is the word that history shows ("edit", "splice", "str_replace").
    void edit(Caller by, std::string block_id, std::string operation, edits::Plan plan,
              Reply<Edited> reply);
    // A part of a block's text, cut at Limits (edits/view.h). A memory block is read as its plain
    // text, and so with text() and search(). Errors: those of edits::view().
    void read(Caller by, std::string block_id, edits::Window window, Reply<BlockText> reply);
    // The whole text of a block, uncut.
    void text(Caller by, std::string block_id, Reply<WholeText> reply);
    // The matches in one block's text, in its order, with the lines around them.
    void search(Caller by, std::string block_id, SearchQuery query, Reply<edits::Finding> reply);
    // A page of blocks. The cursor stays valid while blocks come and go. Errors: invalid_argument
    // "invalid_argument" for a cursor of another list.
    void list(Caller by, ListQuery query, Reply<ListPage> reply);
    // Marks a block of a conversation as deleted. Its content stays in history, and undo restores
    // it.
    void erase(Caller by, std::string block_id, Reply<BlockVersion> reply);
    // Sets and takes away marks of a conversation's block. One version and one unit of undo, or none
    // if nothing changes. Errors: invalid_argument "invalid_argument" for a file.
    void mark(Caller by, std::string block_id, MarkChange change, Reply<BlockVersion> reply);
    // Copies blocks of a conversation to a new one. The copies have new ids and histories; content,
    // author, status, metadata and marks stay, and a parent that is not copied is left out.
    // Errors: not_found "invalid_reference"; conflict "conversation_exists", "splits_pair"
    // {block_id} for half of a tool_call and its tool_result.
    void fork(Caller by, ForkWhich which, Reply<Forked> reply);
    // Sets the caller's selections in a block, in the place of those before; none clears them. They
    // follow the text while others edit it, and are forgotten a minute after they were set, or with
    // the kernel. Answers as cursors() does. Errors: invalid_argument "invalid_range".
    void set_cursors(Caller by, std::string block_id, std::vector<Selection> selections,
                     Reply<std::vector<ActorCursors>> reply);
    // Everybody's selections in a block as they are now, by actor.
    void cursors(Caller by, std::string block_id, Reply<std::vector<ActorCursors>> reply);
    // Undoes what fits, newest first, each step as a version of its own, or redoes one; the answer
    // counts all of it. Errors: not_found "nothing_to_undo", "nothing_to_redo".
    void undo(Caller by, std::string block_id, UndoWhich which, Reply<Undone> reply);
    // The last change alone: the caller's own, or anyone's.
    void undo(Caller by, std::string block_id, UndoScope scope, bool redo, Reply<Undone> reply) {
        UndoWhich which = last_of(by.actor.str(), scope, redo);
        undo(std::move(by), std::move(block_id), std::move(which), std::move(reply));
    }
    // The steps that an undo would take, newest first; none for nothing to undo. Of memory too.
    void undoable(Caller by, std::string block_id, UndoWhich which,
                  Reply<std::vector<HistoryEntry>> reply);
    // The versions of a block, newest first. Deleted blocks have a history too.
    void history(Caller by, std::string block_id, std::size_t limit, std::string cursor,
                 Reply<HistoryPage> reply);
    // The difference between two versions of a block of a conversation, or of a file, by the ids in
    // its history. Without `from` it is the version before `to`, without `to` the block now. Errors:
    // not_found "invalid_reference" {version_id}; unsupported "version_too_old"; denied
    // "memory_block".
    void diff(Caller by, std::string block_id, std::optional<std::string> from,
              std::optional<std::string> to, Reply<BlockDiff> reply);
    // Gives the block the text that it had at a version, by an edit: one version and one unit of
    // undo, or none if it has that text. Errors: those of diff() and edit().
    void rollback(Caller by, std::string block_id, std::string version_id, Reply<Edited> reply);
    // The authors of the block's lines. Errors: denied "memory_block".
    void blame(Caller by, std::string block_id, Reply<Blame> reply);
    // Recent changes of what the caller may see, newest first, by one actor or by all (quire log).
    // Those that it may not see do not count for `limit`; fewer come if there are no more among the
    // newest kMostLogged changes.
    static constexpr std::size_t kMostLogged = 10'000;
    void log(Caller by, std::optional<policy::Actor> of, std::size_t limit,
             Reply<std::vector<LogEntry>> reply);

    // The kind of the document that contains the block, and its path if that is a file, or the
    // conversation's name; a block that there is not has no kind. Answers without waiting, whatever the block is doing.
    BlockPlace place_of(std::string_view block_id) const;

    // Numbers a client's session, from 1 on.
    std::uint64_t open_session();
    // Counts a session as gone. Its subscriptions and cursors end by themselves.
    void close_session(std::uint64_t session);
    // Estimates and counters, without a look at any document. O(1).
    Status status() const;
    const Limits& limits() const;

    // For the kernel's other rooms, whose use cases run in its frame.
    const std::shared_ptr<Core>& core() const { return core_; }

private:
    explicit Kernel(std::shared_ptr<Core> core);
    std::shared_ptr<Core> core_;
};

}  // namespace quire::kernel

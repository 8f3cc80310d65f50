// Core: the inside of Kernel. It holds the documents and the frame of every call, in which a call
// reaches its block, runs, and is answered once everything that it did and saw is durable. The
// templates of the frame are in frame.h; the use cases are in the calls_*.cc, where each is a
// function that returns.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kernel/core/catalog.h"
#include "kernel/core/gate.h"
#include "kernel/core/kernel.h"
#include "kernel/core/live_document.h"
#include "kernel/core/oversight.h"
#include "kernel/core/turns.h"
#include "kernel/core/visit.h"
#include "sched/guarded.h"

namespace quire::conversation {
struct NewBlock;
}

namespace quire::kernel {

struct AppendPiece;
struct AppendTurn;
struct BlockText;
struct HistoryPage;
struct WholeText;

// Memory is written through its own gate alone, so no call by a block's id reaches it.
// Error: denied "memory_block" {label}.
Failure is_memory(const LiveDocument& document);

// Keeps with the transaction of `document` that the actor's token made this block; "" is no token.
void keep_token(LiveDocument& document, const policy::Actor& by, const std::string& token,
                const std::string& block_id);

// One per kernel. Calls keep it alive until they are answered.
class Core : public std::enable_shared_from_this<Core> {
public:
    Core(const Parts& parts, std::vector<store::DocumentRecord> known,
         std::shared_ptr<Oversight> oversight);

    const Parts& parts() const { return parts_; }
    const Limits& limits() const { return parts_.limits; }
    Gate* gate() const { return parts_.gate; }
    Catalog& catalog() { return catalog_; }
    Oversight& oversight() { return *oversight_; }
    BlockFeed& feed() { return *feed_; }

    // Counters for `quire status`, and the switch that refuses new calls.
    struct Counters {
        std::uint64_t calls = 0;
        std::uint64_t commits = 0;
        std::uint64_t next_session = 1;
        std::size_t sessions = 0;
        // Set once, by Kernel::close(), and never taken back.
        bool closing = false;
    };
    sched::Guarded<Counters>& counters() { return counters_; }
    // Runs `make` unless the actor's token made a block before, and answers with that block's present
    // version else. Calls with one token take turns, whatever they name. `make` keeps the token with
    // the block (keep_token). Errors: conflict "token_used" {block_id} if that block was deleted;
    // invalid_argument for a long token.
    void once(const Caller& by, const std::string& token, Function<void(Reply<BlockVersion>)> make,
              Reply<BlockVersion> reply);

    // Returns true once the kernel shuts down.
    bool is_closing() {
        return counters_.with([](const Counters& counters) { return counters.closing; });
    }

    // --- the frame of every call ---
    //
    // enter() brings a call to the document that `address` names: on its strand, loaded, the gate
    // passed. run() also ends it: `work` is a function that returns, and what it returns is the
    // answer once all that it did and saw is durable.
    //   work(Visit<T>): has to answer the visit.
    template <class T, class Work>
    void enter(Caller by, Address address, Access access, Reply<T> reply, Work work);

    // Runs the work on the document's strand and answers with its result.
    template <class T>
    void run(Caller by, Address address, Access access, Reply<T> reply, Task<T> work);
    // Like run(), for a `work` that only reads. It is answered on a full disk too: if what it saw was
    // refused for want of room, `work` runs again on what is durable, and on what has been
    // accepted. So it must be the same when it is called twice.
    template <class T>
    void look(Caller by, Address address, Access access, Reply<T> reply, Task<T> work);
    // Like look(), but calls `work` once: where changes are under way it waits for them first.
    template <class T>
    void look_once(Caller by, Address address, Access access, Reply<T> reply, Task<T> work);
    // Answers a call that only reads and has entered its document, as look() does.
    template <class T>
    void finish_look(Visit<T> visit, Access access, Task<T> work);
    // Like run(), but alone: `work` starts once everything done to the document is durable, and
    // no other call enters the document before the answer.
    template <class T>
    void run_alone(Caller by, Address address, Access access, Reply<T> reply, Task<T> work);

    // A block named by its id.
    struct BlockName {
        BlockName(std::string block_id, bool also_deleted = false)
            : id(std::move(block_id)), deleted_too(also_deleted) {}
        std::string id;
        bool deleted_too;
    };
    // Runs the work on the strand of the block's document. With Access::read it only reads, and is
    // called as look() does.
    template <class T>
    void run_on_block(Caller by, const BlockName& of, Access access, Reply<T> reply,
                      BlockTask<T> work);

    // Ends a call: submits what it changed, and answers with `result` once its changes, and
    // everything that it saw, are durable. A new document that the call left blank, or that could
    // not be stored, gives up its name.
    template <class T>
    void finish(Visit<T> visit, Result<T> result);

    // The block that the actor means: of a file that it has staged, its private copy. Errors:
    // not_found "invalid_reference"; those of BlockId::parse().
    Result<BlockAddress> address_of(const std::string& block_id, const policy::Actor& by);
    // A memory block can be read only, and one that the caller may not see is not found. Errors:
    // those of LiveDocument::find(); is_memory().
    Result<BlockRef> find_block(LiveDocument& document, const conversation::BlockId& id,
                                const policy::Actor& by, Access access, bool deleted_too);

    // Loads the document. Errors: those of LiveDocument::ready(), which name the document; of a
    // memory block that the caller may not see, only not_found "invalid_reference".
    Result<void> load(LiveDocument& document, const Caller& by);
    // Asks the gate whether the caller may enter the document of a file. If it may once a person
    // has approved, and may read, it enters and Caller::unapproved is set. Errors: Gate::enter()'s.
    Result<void> admit(LiveDocument& document, Access access, Caller& by);

    // Returns true if the actor may know of the document.
    bool may_see(const policy::Actor& by, const store::DocumentRecord& document);

    // The name of the conversation that contains the block, or contained it; "" if there is none.
    std::string conversation_of(std::string_view block_id);

    void count_commit() {
        counters_.with([](Counters& counters) { ++counters.commits; });
    }

    // --- reading (calls_read.cc) ---
    // A part of a block, after its pending appends are flushed.
    Result<BlockText> read(LiveDocument& document, const BlockRef& block, const Caller& by,
                           const edits::Window& window);
    Result<WholeText> text(LiveDocument& document, const BlockRef& block, const Caller& by);
    // The text that readers see: of a memory block its plain text. Errors: those of
    // Oversight::plain_text().
    Result<seq::Rope> shown_text(LiveDocument& document, const BlockRef& block, const Caller& by);
    // Calls take(block, text) for each block of the document that is not deleted, in their order, with
    // the text that readers see. Pending appends are flushed. Errors: those of shown_text().
    using TakeText = Function<void(const BlockRef&, const seq::Rope&)>;
    Result<void> for_each_text(LiveDocument& document, const Caller& by, TakeText take);

    // --- editing (calls_change.cc) ---
    // Edits a text, whatever kind of block holds it: plans, admits the plan, writes, and describes
    // the result. All or nothing.
    //   admit(const Result<edits::Planned>&) → Result<void>: a caller without permission is refused
    //       before it learns anything that the plan says about the text.
    //   write(const edits::Planned&) → Result<void>: carries the plan out as one version and one
    //       unit of undo; not called if nothing changes.
    template <class Admit, class Write>
    Result<Edited> edit(LiveDocument& document, const BlockRef& block, const seq::Rope& text,
                        edits::Plan& plan, Admit admit, Write write) const;
    // Edits a block of a conversation, or a file.
    Result<Edited> edit(LiveDocument& document, const BlockRef& block, const Caller& by,
                        TextEdit& what);
    // Checks the size of the first text of a block or file. Errors: too_large().
    Result<void> check_new(std::string_view content) const;
    // Checks the size of the text after the edit, and of the text that it inserts. Errors:
    // too_large().
    Result<void> check_size(const seq::Rope& text, const edits::Planned& planned) const;

    // --- undo (calls_undo.cc) ---
    // Takes back, or redoes, what fits; the answer counts all of it. Errors: those of
    // steps_to_take_back().
    Result<Undone> undo(LiveDocument& document, const BlockRef& block, const Caller& by,
                        const UndoWhich& which);
    // Takes these steps, without asking anybody. Requires that no appends wait.
    Result<Undone> take_back_steps(LiveDocument& document, const BlockRef& block,
                                   const policy::Actor& by,
                                   const std::vector<std::uint64_t>& steps, bool redo);
    // The text that the block will have after these steps, which change its text alone. Works on a
    // copy: O(history). Requires that no appends wait.
    static Result<std::string> text_after(LiveDocument& document, const BlockRef& block,
                                          const std::vector<std::uint64_t>& steps);

    // --- appends (calls_append.cc) ---
    // Buffers the text. The call is answered with its flush, which a later call may trigger.
    void append(Visit<Appended> visit, const BlockRef& block, std::string text, Ack ack);
    // Commits the block's buffered text, if there is any. On the strand, with no transaction
    // begun. `more`: the writer is likely to continue, so versions stay reserved.
    void flush(LiveDocument& document, const BlockRef& block, bool more = false);
    // Flushes all blocks of the document, at shutdown.
    void flush_all(LiveDocument& document);

private:
    // The outcome of an edit by that plan, which was carried out.
    Edited described(LiveDocument& document, const BlockRef& block, edits::Planned planned) const;
    // Brings a call into its document (frame.cc). `then` is told why it was refused, if it was.
    using Entered = Function<void(Entry, Result<void> refused)>;
    struct Arrival;
    void bring(Caller by, Address address, Access access, Entered then);
    void arrive(Arrival call);
    void bring_again(Arrival call);
    // Has the gate admit the call to its document, which is loaded.
    Result<void> pass_gate(Entry& entry, Access access);
    // Holds the document, waits for what is under way, whatever comes of that, and answers.
    template <class T>
    void look_settled(Visit<T> visit, Access access, Task<T> work);

    void buffer(LiveDocument& document, const BlockRef& block, const policy::Actor& writer,
                AppendPiece piece);
    void flush_when_due(LiveDocument& document, const BlockRef& block);
    void look_again(LiveDocument& document, const BlockRef& block, std::int64_t delay_ms);
    void look_after(const std::shared_ptr<LiveDocument>& document, conversation::BlockId id,
                    std::int64_t delay_ms);
    void reserve(LiveDocument& document, const BlockRef& block, std::uint64_t up_to);
    void reserved(const BlockRef& block, std::uint64_t up_to, const Result<void>& result);
    void write(LiveDocument& document, const BlockRef& block, AppendTurn turn);
    void put_back(LiveDocument& document, const BlockRef& block, AppendTurn turn);

    const std::shared_ptr<Oversight> oversight_;
    const std::shared_ptr<BlockFeed> feed_;
    const Parts parts_;
    Catalog catalog_;
    sched::Guarded<Counters> counters_;
    Turns turns_;
};

// A page of a block's history, latest first. Errors: bad_cursor().
Result<HistoryPage> history_of(const BlockRef& block, std::size_t limit, const std::string& cursor);
// Sets a pending block to running, as every change of its text does, in the transaction.
void set_running(LiveDocument& document, const BlockRef& block);
// Checks that the text may be part of the document. Errors: invalid_argument "binary_file" for a
// NUL in a file, which could not be saved.
Result<void> check_savable(const LiveDocument& document, std::string_view text);

inline constexpr std::string_view kGoOnElsewhere = "Go on in another block";
// Returns true if a conversation may have the name: 1 to 200 bytes.
bool is_conversation_name(std::string_view name);
// Errors: invalid_argument "invalid_argument"; "invalid_label" for hidden characters in a new name.
Result<void> check_conversation_name(Core& core, std::string_view name);
// Adds a block to a conversation in a transaction of its own, as the first version of it.
BlockVersion add_block(LiveDocument& document, const policy::Actor& by,
                       const conversation::NewBlock& block, std::string_view operation);
// Returns true for the refusal of a change for want of room, its own or that of a change before it.
// Memory may be ahead of the disk by what was refused, and the document can be loaded anew.
bool is_no_room(const Error& error);

// Too large for `limit`, in the words of every call. Error: out_of_range "too_large" {limit}.
Failure too_large(std::string_view what, std::size_t limit,
                  std::string_view advice = "Write it in several calls");

}  // namespace quire::kernel

#include "kernel/core/frame.h"

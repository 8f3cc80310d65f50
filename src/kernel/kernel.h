// Kernel: the use cases, value in and Reply out. It owns the live documents, each on its strand,
// and runs the pipeline: commit, encode once, store, publish. It sequences and holds no rules.
//
// Every reply comes exactly once, from any thread. What a reply says is durable. A read answers
// from the latest state, and not before that state is durable.
//
// Errors that any call may give: not_found "invalid_reference" for an id that names nothing;
// unavailable "disk_full", "store_failed", "shutting_down".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/enum_words.h"
#include "base/function.h"
#include "conversation/block.h"
#include "edits/find.h"
#include "edits/plan.h"
#include "edits/view.h"
#include "policy/actor.h"
#include "sched/scheduler.h"
#include "store/store.h"
#include "text/search.h"

namespace quire::kernel {

class Gate;

// What a client called, in its own words: what a person is asked to approve.
struct Call {
    std::string profile;  // Where it counts, and from what number, depends on it.
    std::string tool;
    Value arguments;
    bool reads = false;        // It changes nothing, whatever comes of it.
    std::uint64_t number = 0;  // Counted from the kernel's start; 0 where it is not logged.
    std::int64_t begun_ms = 0;
};

// What became of a call, as far as the audit log says it.
struct CallEnd {
    std::string code = {};  // Of the refusal; "" where it was done.
    std::string reason = {};
    std::string approval_id = {};  // What waits for a person, where it was escalated.
    std::string block_id = {};     // What it changed, or made, as far as its answer says so.
    std::optional<std::int64_t> version = {};

    bool is_refused() const { return !code.empty(); }
    // Whether it is known that it did nothing: an approval for it alone is then given back.
    bool is_undone() const { return is_refused() && reason != "fate_unknown"; }
    static CallEnd of(const Error& error);
    // Of a tool's answer: its result, or {"error": …} of its refusal.
    static CallEnd of(const Value& answer);
    template <class T>
    static CallEnd of(const Result<T>& result) {
        return result ? CallEnd() : of(result.error());
    }
};

// Who calls, from which attached session, and whether it still wants the answer.
struct Caller {
    policy::Actor actor;
    std::uint64_t session = 0;
    std::stop_token cancelled;
    // What needs a person's approval is asked for in the name of a call; without one it is refused
    // as escalation_required with no approval_id.
    std::shared_ptr<const Call> call = nullptr;
};

struct Limits {
    std::size_t block_bytes = 16U << 20;
    std::size_t operation_bytes = 1U << 20;
    std::size_t read_lines = 2000;
    std::size_t read_columns = 2000;  // Code points of one line.
};

struct BlockCreate {
    std::string conversation = "main";
    std::optional<std::string> parent_id;
    std::optional<std::string> after;  // A block id; absent: after every other block.
    conversation::Role role = conversation::Role::user;
    conversation::Kind kind = conversation::Kind::text;
    std::string content;
    Map metadata;
    std::optional<conversation::Status> status;
    std::string client_token;  // "" for none.
};
struct BlockVersion {
    std::string block_id;
    std::uint64_t version = 0;
};

enum class Ack { durable, accepted };
constexpr auto words_of(Ack) {
    return word_table("durable", "accepted");
}
struct Appended {
    std::uint64_t version = 0;  // The version it has, or will have once flushed.
    bool durable = false;
    std::size_t line_count = 0;  // After the flush, when `change` is there.
    // What the flush wrote, or will write of an accepted call. None where nothing was appended, or
    // where accepted text waits for a store that refuses it.
    std::optional<edits::Change> change = {};
};

struct Edited {
    std::uint64_t version = 0;
    std::size_t line_count = 0;
    edits::Change change;  // What was written, and what to show of it.
    bool no_op = false;
    std::vector<std::string> notes;
};

struct BlockInfo {
    std::string block_id;
    std::optional<std::string> parent_id;
    std::string role, kind, status;
    std::string reason;    // Of the status: "interrupted" where its writer was gone; else "".
    bool is_file = false;  // A file of the workspace, and not a block that speaks of one.
    std::string path;      // Of a file, or the one that a block of a conversation names.
    std::string summary;   // First non-blank line, at most 80 code points.
    std::uint64_t version = 0;
    std::size_t line_count = 0;
    std::size_t bytes = 0;
    bool dirty = false;     // A file block with changes that are not on disk.
    std::size_t depth = 0;  // 0 for a root, or for a direct child of the query's parent.
};

struct BlockText {
    BlockInfo info;
    Map metadata;
    std::vector<std::string> lines;  // Those asked for, with terminators, cut at Limits.
    std::size_t first_line = 0;      // 0-based.
    std::string eol;                 // lf crlf mixed none
    bool final_newline = false;
    bool truncated = false;  // Lines or columns were cut; `notes` says where to go on.
    std::vector<std::string> notes;
};

// All of a block's text, uncut: for people, exports and resources rather than for a model.
struct WholeText {
    BlockInfo info;
    std::string text;
};

struct ListQuery {
    std::optional<std::string> conversation;  // Absent: every document.
    std::optional<std::string> parent_id;
    std::optional<conversation::Kind> kind;
    std::optional<conversation::Status> status;
    std::string path_prefix;
    std::size_t depth = 1;  // Levels below the parent, or from the roots; 0 = all.
    std::size_t limit = 100;
    std::string cursor;
};
struct ListPage {
    std::vector<BlockInfo> blocks;
    std::string next_cursor;  // "" at the end.
};

struct SearchQuery {
    text::Query query;
    std::size_t context_lines = 2;
    std::size_t max_matches = 20;  // In one block.
};
struct SearchAll {
    SearchQuery search;
    std::vector<conversation::Kind> kinds = {conversation::Kind::file};
    std::string path_prefix;
    std::size_t max_blocks = 20;
};
struct FoundAll {
    struct InBlock {
        std::string block_id;
        std::string path;
        std::vector<edits::Finding::Hit> matches;
    };
    std::vector<InBlock> blocks;
    std::size_t searched = 0;
    bool truncated = false;
};

enum class UndoScope { own, any };
constexpr auto words_of(UndoScope) {
    return word_table("own", "any");
}
struct Undone {
    std::uint64_t version = 0;
    std::size_t restored = 0;
    std::size_t removed = 0;
    std::size_t skipped_because_changed = 0;
    std::size_t line_count = 0;
    edits::Change change = {};
};

struct HistoryEntry {
    std::string version_id;      // The block's version, as text.
    std::int64_t timestamp = 0;  // Milliseconds since 1970.
    std::string actor;
    std::string description;
};
struct HistoryPage {
    std::vector<HistoryEntry> versions;  // Newest first.
    std::string next_cursor;
};

struct LogEntry {
    std::string block_id;
    HistoryEntry entry;
};

struct Status {
    std::size_t documents = 0;
    std::size_t live_documents = 0;
    std::size_t sessions = 0;
    std::uint64_t calls = 0;
    std::uint64_t commits = 0;
};

struct Parts {
    store::Store& store;
    sched::Scheduler& scheduler;
    Clock& clock;
    Rng& rng;
    Limits limits;
    Gate* gate = nullptr;      // Of documents of kind "file".
    std::string version = {};  // Of the program, for the audit log.
};

class Kernel {
public:
    // Reads the catalog; documents are loaded when first used.
    static Result<std::unique_ptr<Kernel>> open(Parts parts);
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    ~Kernel();
    // Flushes what was accepted; replies when all of it is durable. Call once, before the end.
    void close(Reply<void> reply);

    void create(Caller by, BlockCreate what, Reply<BlockVersion> reply);
    void set_status(Caller by, std::string block_id, conversation::Status status,
                    Reply<BlockVersion> reply);
    void append(Caller by, std::string block_id, std::string text, Ack ack, Reply<Appended> reply);
    // Runs `plan` on the text and applies what it gives, all or nothing: one version, one undo
    // unit. `operation` is the word that history shows ("edit", "splice", "str_replace").
    void edit(Caller by, std::string block_id, std::string operation, edits::Plan plan,
              Reply<Edited> reply);
    // Lines [begin, end); an `end` beyond the last is clamped. Errors: out_of_range
    // "line_out_of_range".
    void read(Caller by, std::string block_id, std::optional<text::LineRange> range,
              Reply<BlockText> reply);
    void text(Caller by, std::string block_id, Reply<WholeText> reply);
    void search(Caller by, std::string block_id, SearchQuery query, Reply<edits::Finding> reply);
    void search_all(Caller by, SearchAll query, Reply<FoundAll> reply);
    void list(Caller by, ListQuery query, Reply<ListPage> reply);
    void erase(Caller by, std::string block_id, Reply<BlockVersion> reply);
    // Errors: not_found "nothing_to_undo".
    void undo(Caller by, std::string block_id, UndoScope scope, bool redo, Reply<Undone> reply);
    void history(Caller by, std::string block_id, std::size_t limit, std::string cursor,
                 Reply<HistoryPage> reply);
    // What was done last, over all documents, newest first; by one actor or by all (quire log).
    void log(Caller by, std::optional<policy::Actor> of, std::size_t limit,
             Reply<std::vector<LogEntry>> reply);

    // A call that will be made of the tool, to be the caller's.
    std::shared_ptr<const Call> called(std::string_view profile, std::string tool, Value arguments,
                                       bool reads);
    // Before and after a call of `by.call`, which may be several of these. It is written down
    // (audit.h), and an approval that is for it alone is spent, or given back where the call was
    // refused. end() comes before the call is answered.
    void begin(const Caller& by, Reply<void> then);
    void end(const Caller& by, const CallEnd& how);

    std::uint64_t open_session();
    void close_session(std::uint64_t session);
    Status status() const;
    const Limits& limits() const;

    class Body;

private:
    friend class ApprovalCalls;
    friend class AuditCalls;
    friend class FileCalls;
    friend class MemoryCalls;
    friend class MountCalls;
    friend class RuleCalls;
    explicit Kernel(std::shared_ptr<Body> body);
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel

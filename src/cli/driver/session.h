// The requests of `quire engine`: the documents by name, and the table of methods.
//
// A session belongs to one thread. All that it holds has a name that the client chose: documents,
// undo histories and presence stores. A request names its operation (`op`), may have an `id` that
// the reply repeats, and has the operation's arguments beside them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/driver/argument.h"
#include "cli/driver/presence.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/events.h"

namespace quire::crdt {
struct UndoOptions;
}

namespace quire::cli {

// A document of the session. Not movable: undo histories and subscriptions refer to it.
struct EngineDocument {
    explicit EngineDocument(crdt::PeerId peer) : doc(peer) {}
    EngineDocument(const EngineDocument&) = delete;
    EngineDocument& operator=(const EngineDocument&) = delete;
    ~EngineDocument() = default;

    // The document, and beside it the settings of the session that the document itself does not
    // have.
    crdt::Doc doc;
    bool record_timestamps = false;
    bool edits_detached = false;
    // The roots that requests have named. From then on they exist, even if they are empty.
    std::set<crdt::ContainerId> roots = {};

    // Starts to collect events. Events that were not taken yet stay when it is called again.
    void listen();
    // The events since the last call. They are kept without limit until then.
    std::vector<crdt::Event> heard();

private:
    std::vector<crdt::Event> events_;
    // It refers to this object, which therefore cannot move.
    crdt::Subscription listening_;
};

struct EngineUndo;  // cli/driver/undo.h

// The documents of one session, and what new ones need. Both arguments must outlive it. The clock
// gives timestamps of commits and the times of undo and presence, the random numbers give peers.
class EngineDocuments {
public:
    EngineDocuments(const Clock& clock, Rng& rng);
    EngineDocuments(const EngineDocuments&) = delete;
    EngineDocuments& operator=(const EngineDocuments&) = delete;
    ~EngineDocuments();

    // The document that the request names. Errors: not_found "no_such_document".
    Result<EngineDocument*> find(const Map& request);
    // find(), with the history loaded. Pending ops stay pending. A document that was opened from a
    // snapshot reads its history only when something needs it. Errors also: those of
    // crdt::History::load().
    Result<EngineDocument*> find_loaded(const Map& request);
    // find(), with the pending transaction committed. Errors: those of find().
    Result<EngineDocument*> find_settled(const Map& request);
    // Both.
    Result<EngineDocument*> find_whole(const Map& request);
    // Opens a container of any kind. A root is there as soon as it is named. Errors: not_found
    // "no_such_container" for a child that no op has made. The document remembers a named root, so
    // that its value shows it without any op; the roots that stand for mergeable children are left
    // out.
    static Result<crdt::Handle> open(EngineDocument& document, const crdt::ContainerId& id);
    // Adds an empty document that writes as `peer`; it is valid until drop(). Errors: conflict
    // "document_exists".
    Result<EngineDocument*> add(const std::string& name, crdt::PeerId peer);
    // Removes the document and the undo histories that refer to it. An unknown name is ignored.
    void drop(const std::string& name);

    // The peer that a request names, or a random one. A random number that means "no peer" is
    // replaced.
    crdt::PeerId peer_or_random(const std::optional<Peer>& peer);
    // Commits the pending transaction, if there is one, without message and origin.
    void settle(EngineDocument& document);
    // Every commit goes through here, so that the undo histories learn of it.
    crdt::Commit commit(EngineDocument& document, crdt::CommitOptions options);
    // Seconds since 1970 if the document records timestamps, else 0.
    std::int64_t timestamp_of(const EngineDocument& document) const;
    // Undo groups edits by steady time; presence uses wall time, which other peers share.
    std::int64_t now_ms() const { return clock_.steady_ms(); }
    std::int64_t wall_ms() const { return clock_.wall_ms(); }
    EngineStores& stores() { return stores_; }

    // --- undo histories, by name (undo.cc) ---
    // Errors: not_found "no_such_undo". The history stays valid until its document is dropped.
    Result<EngineUndo*> find_undo(const Map& request);
    // Errors: conflict "undo_exists". The document must be one of this session's; drop() removes
    // the history with it.
    Result<void> attach_undo(const std::string& name, EngineDocument& document,
                             crdt::UndoOptions options);
    // Tells every undo history of the document about the commit. A commit that a history is not
    // told of would count as somebody else's.
    void tell_undo(EngineDocument& document, const crdt::Commit& commit);

private:
    const Clock& clock_;
    Rng& rng_;
    std::map<std::string, EngineDocument> documents_;
    std::map<std::string, std::unique_ptr<EngineUndo>> undos_;
    EngineStores stores_;
};

// The text `member` of a request, which names a document, an undo history or a store. Errors:
// invalid_argument when it is no text. The member stays in the request.
Result<std::string> name_in(const Map& request, std::string_view member);

// A row in the table of operations (operation.h). `run` returns the result as JSON text.
struct EngineOp {
    std::string_view name;
    EngineArguments arguments;
    Result<std::string> (*run)(EngineDocuments&, Map request, const EngineArguments&);
};

// One table for each file that has ops. The tables live as long as the program. Their names are
// distinct across all tables, which the session CHECKs when it merges them.
std::span<const EngineOp> engine_document_ops();
std::span<const EngineOp> engine_text_ops();
std::span<const EngineOp> engine_richtext_ops();
std::span<const EngineOp> engine_container_ops();
std::span<const EngineOp> engine_exchange_ops();
std::span<const EngineOp> engine_cursor_ops();
std::span<const EngineOp> engine_time_ops();
std::span<const EngineOp> engine_json_ops();
std::span<const EngineOp> engine_undo_ops();
std::span<const EngineOp> engine_presence_ops();

// The entry of the driver: lines in, replies out. It reads and writes no stream itself (pipe.h).
class EngineSession {
public:
    // Clock and random numbers must outlive the session.
    EngineSession(const Clock& clock, Rng& rng);

    // The reply to one line, without a newline. Whatever the line is, there is one.
    std::string answer(std::string_view line);
    // The reply to a line that was longer than a request may be and was dropped: error "too_large".
    // It has no `id`, since nothing of the line was read.
    std::string refuse_too_long() const;

private:
    EngineDocuments documents_;
    // The keys and the rows are those of the constant tables.
    std::unordered_map<std::string_view, const EngineOp*> ops_;
};

}  // namespace quire::cli

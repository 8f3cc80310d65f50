// Versions, checkouts, forks, diffs and events: methods that look at a document's past or follow
// its changes. All but those that only read versions commit the pending transaction first.
//
// Function parameters are in the order in which requests are checked: a SettledDocument commits
// when it is read, so the versions stand before it.
#include <array>
#include <optional>

#include "cli/driver/diffs.h"
#include "cli/driver/operation.h"
#include "crdt/doc/apply.h"
#include "crdt/doc/history.h"

namespace quire::cli {
namespace {

using crdt::Frontiers;

// Versions include the pending ops without committing them: a later commit may still name them.
Value with_pending(const crdt::Doc& doc, crdt::VersionVector version) {
    const crdt::IdSpan pending = doc.pending();
    if (pending.size() > 0) version.extend(pending.peer, pending.end);
    return to_json(version);
}

Result<Value> shown_version(AnyDocument document) {
    return with_pending(document->doc, document->doc.version());
}

Result<Value> oplog_version(AnyDocument document) {
    return with_pending(document->doc, document->doc.history().version());
}

// A pending transaction is one run of ops by one peer and builds on the heads, so its last op is
// the only head.
Result<Frontiers> shown_frontiers(AnyDocument document) {
    const crdt::IdSpan pending = document->doc.pending();
    if (pending.size() == 0) return document->doc.frontiers();
    return Frontiers{{pending.peer, pending.end - 1}};
}

Result<Frontiers> oplog_frontiers(EngineDocuments& documents, AnyDocument document) {
    // A detached document shows other heads than the log has.
    if (!document->doc.is_detached()) return shown_frontiers(document);
    documents.settle(*document);
    return document->doc.history().frontiers();
}

Result<bool> is_detached(AnyDocument document) {
    return document->doc.is_detached();
}

// Versions are read first: a request that is refused for one leaves the transaction pending.
Result<void> checkout_version(const Frontiers& version, SettledDocument document) {
    return document->doc.checkout(version);
}

Result<void> checkout_to_latest(SettledDocument document) {
    document->doc.checkout_to_latest();
    return {};
}

Result<void> detach_document(WholeDocument document) {
    document->doc.detach();
    return {};
}

// The fork keeps the setting for timestamps and the named roots; it has no undo history and no
// subscription. It is made before its name is taken, so that an unknown version leaves no empty
// document behind.
Result<void> fork_at(EngineDocuments& documents, EngineDocument& document, const Frontiers& version,
                     const std::string& name, std::optional<Peer> peer) {
    const crdt::PeerId forking = documents.peer_or_random(peer);
    crdt::Doc fork = TRY(fork_at(document.doc, version, forking));
    EngineDocument* copy = TRY(documents.add(name, forking));
    copy->doc = std::move(fork);
    copy->record_timestamps = document.record_timestamps;
    copy->roots = document.roots;
    return {};
}

// Forks the version that readers see.
Result<void> fork_document(EngineDocuments& documents, SettledDocument document,
                           const std::string& name, std::optional<Peer> peer) {
    return fork_at(documents, *document, document->doc.frontiers(), name, peer);
}

Result<void> fork_document_at(EngineDocuments& documents, const Frontiers& version,
                              SettledDocument document, const std::string& name,
                              std::optional<Peer> peer) {
    return fork_at(documents, *document, version, name, peer);
}

Result<Value> diff_versions(const Frontiers& from, const Frontiers& to, SettledDocument document) {
    return to_json(TRY(document->doc.history().diff(from, to)));
}

Result<void> apply_diff(AnyDocument document, const RawJson& diff) {
    return crdt::apply_diff(document->doc, TRY(diff_from(diff.value)));
}

Result<void> revert_to(const Frontiers& version, SettledDocument document) {
    return crdt::revert_to(document->doc, version);
}

Result<void> start_events(AnyDocument document) {
    document->listen();
    return {};
}

Result<List> take_events(AnyDocument document) {
    List list;
    for (const crdt::Event& event : document->heard()) list.push_back(to_json(event));
    return list;
}

constexpr std::array kTimeOps = {
    engine_op<shown_version>("vv"),
    engine_op<oplog_version>("oplog_vv"),
    engine_op<shown_frontiers>("frontiers"),
    engine_op<oplog_frontiers>("oplog_frontiers"),
    engine_op<is_detached>("is_detached"),
    engine_op<checkout_version>("checkout", "frontiers"),
    engine_op<checkout_to_latest>("checkout_to_latest"),
    engine_op<checkout_to_latest>("attach"),
    engine_op<detach_document>("detach"),
    engine_op<fork_document>("fork", "as", "peer"),
    engine_op<fork_document_at>("fork_at", "frontiers", "as", "peer"),
    engine_op<diff_versions>("diff", "from", "to"),
    engine_op<apply_diff>("apply_diff", "diff"),
    engine_op<revert_to>("revert_to", "frontiers"),
    engine_op<start_events>("events.start"),
    engine_op<take_events>("events.take"),
};

}  // namespace

std::span<const EngineOp> engine_time_ops() {
    return kTimeOps;
}

}  // namespace quire::cli

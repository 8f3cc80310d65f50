// Versions, checkouts, forks, diffs and events: methods that look at a document's past or follow
// its changes. All but those that only read versions commit the pending transaction first.
#include <array>
#include <optional>

#include "base/check.h"
#include "cli/driver/diffs.h"
#include "cli/driver/session.h"

namespace quire::cli {
namespace {

using crdt::Frontiers;

// The document, with no transaction pending.
Result<EngineDocument*> settled(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    documents.settle(*document);
    return document;
}

// Versions include the pending ops without committing them: a later commit may still name them.
Value with_pending(const crdt::Doc& doc, crdt::VersionVector version) {
    const crdt::IdSpan pending = doc.pending();
    if (pending.size() > 0) version.extend(pending.peer, pending.end);
    return to_json(version);
}

Result<Value> shown_version(EngineDocuments& documents, const EngineRequest& request) {
    const crdt::Doc& doc = TRY(documents.find(request))->doc;
    return with_pending(doc, doc.version());
}

Result<Value> oplog_version(EngineDocuments& documents, const EngineRequest& request) {
    const crdt::Doc& doc = TRY(documents.find(request))->doc;
    return with_pending(doc, doc.history().version());
}

Result<Value> shown_frontiers(EngineDocuments& documents, const EngineRequest& request) {
    const crdt::Doc& doc = TRY(documents.find(request))->doc;
    const crdt::IdSpan pending = doc.pending();
    return to_json(pending.size() == 0 ? doc.frontiers()
                                       : Frontiers{{pending.peer, pending.end - 1}});
}

Result<Value> oplog_frontiers(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    // A detached document shows other heads than the log has.
    if (!document->doc.is_detached()) return shown_frontiers(documents, request);
    documents.settle(*document);
    return to_json(document->doc.history().frontiers());
}

Result<Value> is_detached(EngineDocuments& documents, const EngineRequest& request) {
    return Value(TRY(documents.find(request))->doc.is_detached());
}

Result<Value> checkout_version(EngineDocuments& documents, const EngineRequest& request) {
    const Frontiers version = TRY(request.frontiers("frontiers"));
    EngineDocument* document = TRY(settled(documents, request));
    TRY(document->doc.checkout(version));
    return Value(true);
}

Result<Value> checkout_to_latest(EngineDocuments& documents, const EngineRequest& request) {
    TRY(settled(documents, request))->doc.checkout_to_latest();
    return Value(true);
}

Result<Value> detach_document(EngineDocuments& documents, const EngineRequest& request) {
    TRY(documents.find_whole(request))->doc.detach();
    return Value(true);
}

// Forks the version that readers see, unless the request names another.
Result<Value> fork_of(EngineDocuments& documents, const EngineRequest& request,
                      const std::optional<Frontiers>& version) {
    EngineDocument* document = TRY(settled(documents, request));
    const std::string name = TRY(request.text("as"));
    const crdt::PeerId peer = TRY(documents.peer_of(request));
    crdt::Doc fork = TRY(document->doc.fork_at(version.value_or(document->doc.frontiers()), peer));
    EngineDocument* copy = TRY(documents.add(name, peer));
    copy->doc = std::move(fork);
    copy->record_timestamps = document->record_timestamps;
    copy->roots = document->roots;
    return Value(true);
}

Result<Value> fork_document(EngineDocuments& documents, const EngineRequest& request) {
    return fork_of(documents, request, std::nullopt);
}

Result<Value> fork_document_at(EngineDocuments& documents, const EngineRequest& request) {
    return fork_of(documents, request, TRY(request.frontiers("frontiers")));
}

Result<Value> diff_versions(EngineDocuments& documents, const EngineRequest& request) {
    const Frontiers from = TRY(request.frontiers("from"));
    const Frontiers to = TRY(request.frontiers("to"));
    EngineDocument* document = TRY(settled(documents, request));
    return to_json(TRY(document->doc.history().diff(from, to)));
}

Result<Value> apply_diff(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const Value* json = TRY(request.json("diff"));
    const crdt::Diff diff = TRY(diff_from(*json));
    TRY(crdt::apply_diff(document->doc, diff));
    return Value(true);
}

Result<Value> revert_to(EngineDocuments& documents, const EngineRequest& request) {
    const Frontiers version = TRY(request.frontiers("frontiers"));
    EngineDocument* document = TRY(settled(documents, request));
    TRY(crdt::revert_to(document->doc, version));
    return Value(true);
}

Result<Value> start_events(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    document->listen();
    return Value(true);
}

Result<Value> take_events(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    List list;
    for (const crdt::Event& event : document->heard()) list.push_back(to_json(event));
    return Value(std::move(list));
}

constexpr std::array kTimeOps = {
    EngineOp{"vv", shown_version},
    EngineOp{"oplog_vv", oplog_version},
    EngineOp{"frontiers", shown_frontiers},
    EngineOp{"oplog_frontiers", oplog_frontiers},
    EngineOp{"is_detached", is_detached},
    EngineOp{"checkout", checkout_version},
    EngineOp{"checkout_to_latest", checkout_to_latest},
    EngineOp{"attach", checkout_to_latest},
    EngineOp{"detach", detach_document},
    EngineOp{"fork", fork_document},
    EngineOp{"fork_at", fork_document_at},
    EngineOp{"diff", diff_versions},
    EngineOp{"apply_diff", apply_diff},
    EngineOp{"revert_to", revert_to},
    EngineOp{"events.start", start_events},
    EngineOp{"events.take", take_events},
};

}  // namespace

std::span<const EngineOp> engine_time_ops() {
    return kTimeOps;
}

}  // namespace quire::cli

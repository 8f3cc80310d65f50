// export, import, inspect and changes: a document's history as bytes, and what the bytes hold.
//
// Each export mode commits the pending transaction once the arguments that it needs are there, so
// that the bytes hold every edit made so far.
//
// An import has three paths, from the cheapest: one snapshot into an empty document is opened
// without reading its history; a batch with a shallow snapshot opens that one first, since later
// changes have nothing else to build on; everything else is merged op by op. An error changes
// nothing in any of them.
#include <array>

#include "base/concat.h"
#include "cli/driver/imports.h"
#include "cli/driver/operation.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/inspect.h"
#include "codec/open_snapshot.h"
#include "codec/shallow_snapshot.h"
#include "codec/updates.h"
#include "crdt/doc/history.h"
#include "crdt/doc/shallow.h"
#include "crdt/ids/container_text.h"

namespace quire::cli {
namespace {

using crdt::Change;

// `from` belongs to updates, `spans` to updates_in_range and `version` to the modes of one version;
// state_only takes the newest version if none is given. A mode ignores the other two.
Result<Bytes> export_blob(EngineDocuments& documents, AnyDocument document, const std::string& mode,
                          const std::optional<crdt::VersionVector>& from,
                          const std::optional<std::vector<crdt::IdSpan>>& spans,
                          const std::optional<crdt::Frontiers>& version) {
    crdt::Doc& doc = document->doc;
    if (mode == "updates") {
        const crdt::VersionVector known = from.value_or(crdt::VersionVector());
        documents.settle(*document);
        TRY(doc.history().load(known));
        return codec::encode_updates(doc.changes_since(known));
    }
    if (mode == "updates_in_range") {
        if (!spans) return invalid("invalid_argument", "`spans` must be an array of {id, len}");
        documents.settle(*document);
        TRY(crdt::check_retained(doc, *spans));
        TRY(doc.history().load());
        return codec::encode_updates(doc.changes_in(*spans));
    }
    if (mode == "snapshot") {
        documents.settle(*document);
        return codec::encode_snapshot(doc);
    }
    if (mode == "snapshot_at") {
        if (!version) return invalid("invalid_argument", "`frontiers` must be an array of ids");
        documents.settle(*document);
        constexpr crdt::PeerId kNobody = 0;  // The copy writes nothing.
        return codec::encode_snapshot(TRY(crdt::fork_at(doc, *version, kNobody)));
    }
    if (mode == "shallow_snapshot") {
        if (!version) return invalid("invalid_argument", "`frontiers` must be an array of ids");
        documents.settle(*document);
        return codec::encode_shallow_snapshot(doc, *version);
    }
    if (mode == "state_only") {
        documents.settle(*document);
        return codec::encode_state_only(doc, version.value_or(doc.history().frontiers()));
    }
    return fail(Errc::unsupported, "unsupported", cat("no export mode ", mode));
}

// `success` tells what came in and `pending` what waits for changes that are missing here.
Value import_status(const crdt::Imported& imported) {
    return Map{{"success", to_json(imported.success)},
               {"pending", imported.pending.empty() ? Value() : to_json(imported.pending)}};
}

}  // namespace

Result<Value> import_changes(EngineDocuments& documents, EngineDocument& document,
                             const std::vector<Change>& changes, crdt::ImportOptions options) {
    documents.settle(document);
    return import_status(TRY(document.doc.import(changes, std::move(options))));
}

namespace {

// All ops that the version includes.
std::vector<crdt::IdSpan> spans_of(const crdt::VersionVector& version) {
    std::vector<crdt::IdSpan> spans;
    for (const auto& [peer, end] : version.ends()) spans.push_back({peer, 0, end});
    return spans;
}

// Opens the shallow snapshot among the blobs in an empty document, and imports the others. It costs
// twice the time of the import, because everything is done in a trial document first.
Result<Value> open_and_import(crdt::Doc& document, std::vector<Bytes> blobs, std::size_t first) {
    const Bytes shallow = std::move(blobs[first]);
    blobs.erase(blobs.begin() + static_cast<std::ptrdiff_t>(first));
    const auto take = [&](crdt::Doc& doc) -> Result<void> {
        TRY(codec::open_snapshot(doc, shallow));
        codec::BlobHistories others = TRY(codec::read_histories(blobs, doc.history().version()));
        TRY(doc.import(std::move(others.batch), {.want_diff = false}));
        return {};
    };
    // An error must change nothing, and an opened document cannot be made empty again.
    crdt::Doc trial(document.peer());
    TRY(take(trial));
    TRY(take(document));
    return import_status(
        {spans_of(document.history().version()), document.history().waiting(), {}});
}

Result<Value> import_blobs(EngineDocuments& documents, EngineDocument& document,
                           const std::vector<Bytes>& blobs) {
    if (blobs.size() == 1 && TRY(codec::open_snapshot(document.doc, blobs.front())))
        return import_status({spans_of(document.doc.history().version()), {}, {}});
    if (blobs.size() > 1 && crdt::is_empty(document.doc)) {
        if (const auto first = TRY(codec::first_to_open(blobs)))
            return open_and_import(document.doc, blobs, *first);
    }
    codec::BlobHistories histories =
        TRY(codec::read_histories(blobs, document.doc.history().version()));
    // Committed only now, so that an unreadable blob changes nothing.
    documents.settle(document);
    Value status =
        import_status(TRY(document.doc.import(std::move(histories.batch), {.want_diff = false})));
    // As in Loro, the import of one blob reports its own pending ops, a batch all pending ops.
    const std::vector<crdt::IdSpan> waiting = document.doc.history().waiting();
    if (blobs.size() > 1 && !waiting.empty()) status.as_map().set("pending", to_json(waiting));
    return status;
}

Result<Value> import_blob(EngineDocuments& documents, AnyDocument document, Bytes blob) {
    return import_blobs(documents, *document, {std::move(blob)});
}

Result<Value> import_batch(EngineDocuments& documents, AnyDocument document,
                           const std::vector<Bytes>& blobs) {
    return import_blobs(documents, *document, blobs);
}

// Changes as the document stores them: commits that were merged into one change are one entry.
// O(changes).
Result<List> list_changes(LoadedDocument document) {
    List list;
    for (const Change& change : document->doc.changes_since({}).changes()) {
        list.push_back(Map{{"id", crdt::to_text(change.id)},
                           {"timestamp", change.timestamp},
                           {"deps", to_json(change.deps)},
                           {"lamport", change.lamport},
                           {"message", change.message.empty() ? Value() : Value(change.message)},
                           {"len", crdt::atom_count(change)}});
    }
    return list;
}

// It needs no document: a client asks what bytes hold before it imports them.
Result<Map> inspect_blob(const Bytes& blob) {
    constexpr std::array<std::string_view, 3> kModes = {"updates", "snapshot", "shallow_snapshot"};
    const codec::BlobInfo info = TRY(codec::inspect_blob(blob));
    Map start;
    for (const auto& [peer, counter] : info.start) start.append(cat(peer), counter);
    return Map{{"mode", kModes[static_cast<std::size_t>(info.kind)]},
               {"start_vv", std::move(start)},
               {"end_vv", to_json(info.end)},
               {"start_frontiers", to_json(info.start_frontiers)},
               {"change_count", info.change_count},
               {"start_timestamp", info.start_timestamp},
               {"end_timestamp", info.end_timestamp}};
}

constexpr std::array kExchangeOps = {
    engine_op<export_blob>("export", "mode", "from", "spans", "frontiers"),
    engine_op<import_blob>("import", "bytes"),
    engine_op<import_batch>("import_batch", "bytes"),
    engine_op<list_changes>("changes"),
    engine_op<inspect_blob>("inspect", "bytes"),
};

}  // namespace

std::span<const EngineOp> engine_exchange_ops() {
    return kExchangeOps;
}

}  // namespace quire::cli

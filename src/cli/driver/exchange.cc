// export, import, inspect and changes: a document's history as bytes, and what the bytes hold.
#include <array>

#include "base/concat.h"
#include "cli/driver/imports.h"
#include "cli/driver/session.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/inspect.h"
#include "codec/open_snapshot.h"
#include "codec/updates.h"
#include "crdt/ids/container_text.h"
#include "json/json.h"

namespace quire::cli {
namespace {

using crdt::Change;

Value base64_value(const Bytes& bytes) {
    return json::base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<Value> export_blob(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const std::string mode = TRY(request.text("mode"));
    if (mode == "updates") {
        const crdt::VersionVector from = TRY(request.version_or_empty("from"));
        documents.settle(*document);
        TRY(document->doc.history().load(from));
        return base64_value(codec::encode_updates(document->doc.changes_since(from)));
    }
    if (mode == "updates_in_range") {
        const std::vector<crdt::IdSpan> spans = TRY(request.spans("spans"));
        documents.settle(*document);
        TRY(document->doc.history().load());
        return base64_value(codec::encode_updates(document->doc.changes_in(spans)));
    }
    if (mode == "snapshot") {
        documents.settle(*document);
        return base64_value(TRY(codec::encode_snapshot(document->doc)));
    }
    return fail(Errc::unsupported, "unsupported", cat("no export mode ", mode));
}

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

Result<Value> import_blobs(EngineDocuments& documents, EngineDocument& document,
                           const std::vector<Bytes>& blobs) {
    if (blobs.size() == 1 && TRY(codec::open_snapshot(document.doc, blobs.front())))
        return import_status({spans_of(document.doc.version()), {}, {}});
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

Result<Value> import_blob(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    return import_blobs(documents, *document, {TRY(request.bytes("bytes"))});
}

Result<Value> import_batch(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    return import_blobs(documents, *document, TRY(request.bytes_list("bytes")));
}

Result<Value> list_changes(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find_read(request));
    List list;
    for (const Change& change : document->doc.changes_since({}).changes()) {
        list.push_back(Map{{"id", crdt::to_text(change.id)},
                           {"timestamp", change.timestamp},
                           {"deps", to_json(change.deps)},
                           {"lamport", change.lamport},
                           {"message", change.message.empty() ? Value() : Value(change.message)},
                           {"len", crdt::atom_count(change)}});
    }
    return Value(std::move(list));
}

std::string_view name_of(codec::BlobKind kind) {
    switch (kind) {
        case codec::BlobKind::updates:
            return "updates";
        case codec::BlobKind::snapshot:
            return "snapshot";
        case codec::BlobKind::shallow_snapshot:
            return "shallow_snapshot";
    }
    return "";
}

Result<Value> inspect_blob(EngineDocuments&, const EngineRequest& request) {
    const Bytes blob = TRY(request.bytes("bytes"));
    const codec::BlobInfo info = TRY(codec::inspect_blob(blob));
    Map start;
    for (const auto& [peer, counter] : info.start) start.append(cat(peer), counter);
    return Value(Map{{"mode", name_of(info.kind)},
                     {"start_vv", std::move(start)},
                     {"end_vv", to_json(info.end)},
                     {"start_frontiers", to_json(info.start_frontiers)},
                     {"change_count", info.change_count},
                     {"start_timestamp", info.start_timestamp},
                     {"end_timestamp", info.end_timestamp}});
}

constexpr std::array kExchangeOps = {
    EngineOp{"export", export_blob},        EngineOp{"import", import_blob},
    EngineOp{"import_batch", import_batch}, EngineOp{"changes", list_changes},
    EngineOp{"inspect", inspect_blob},
};

}  // namespace

std::span<const EngineOp> engine_exchange_ops() {
    return kExchangeOps;
}

}  // namespace quire::cli

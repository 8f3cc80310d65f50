// What crosses the border: export, import, and looking into a blob or the history.
#include <algorithm>
#include <array>

#include "base/cat.h"
#include "cli/engine/session.h"
#include "codec/updates.h"
#include "crdt/ids/container_text.h"
#include "json/json.h"

namespace quire::cli {
namespace {

using crdt::Change;

Value base64(const Bytes& bytes) {
    return json::base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<Value> export_blob(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const std::string mode = TRY(request.text("mode"));
    if (mode == "updates") {
        const crdt::VersionVector from = TRY(request.version_or_empty("from"));
        documents.settle(*document);
        return base64(codec::encode_updates(document->doc.changes_since(from)));
    }
    if (mode == "updates_in_range") {
        const std::vector<crdt::IdSpan> spans = TRY(request.spans("spans"));
        documents.settle(*document);
        return base64(codec::encode_updates(document->doc.changes_in(spans)));
    }
    return fail(Errc::unsupported, "unsupported", cat("no export mode ", mode));
}

Result<Value> import_changes(EngineDocuments& documents, EngineDocument& document,
                             std::vector<Change> changes) {
    documents.settle(document);
    const crdt::Imported imported =
        TRY(document.doc.import(std::move(changes), {.want_diff = false}));
    return Value(Map{{"success", to_json(imported.success)},
                     {"pending", imported.pending.empty() ? Value() : to_json(imported.pending)}});
}

Result<Value> import_blob(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const Bytes blob = TRY(request.bytes("bytes"));
    std::vector<Change> changes = TRY(codec::decode_updates(blob));
    return import_changes(documents, *document, std::move(changes));
}

Result<Value> import_batch(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    std::vector<Change> all;
    const std::vector<Bytes> blobs = TRY(request.bytes_list("bytes"));
    for (const Bytes& blob : blobs) {
        std::vector<Change> changes = TRY(codec::decode_updates(blob));
        std::move(changes.begin(), changes.end(), std::back_inserter(all));
    }
    return import_changes(documents, *document, std::move(all));
}

Result<Value> changes(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    documents.settle(*document);
    List list;
    for (const Change& change : document->doc.changes_since({})) {
        list.push_back(Map{{"id", crdt::to_text(change.id)},
                           {"timestamp", change.timestamp},
                           {"deps", to_json(change.deps)},
                           {"lamport", change.lamport},
                           {"message", change.message.empty() ? Value() : Value(change.message)},
                           {"len", crdt::atom_count(change)}});
    }
    return Value(std::move(list));
}

Result<Value> inspect(EngineDocuments&, const EngineRequest& request) {
    const Bytes blob = TRY(request.bytes("bytes"));
    std::vector<Change> all = TRY(codec::decode_updates(blob));
    std::stable_sort(all.begin(), all.end(),
                     [](const Change& a, const Change& b) { return a.lamport < b.lamport; });
    std::map<crdt::PeerId, crdt::Counter> starts;
    crdt::VersionVector end;
    for (const Change& change : all) {
        const auto [at, is_new] = starts.try_emplace(change.id.peer, change.id.counter);
        if (!is_new) at->second = std::min(at->second, change.id.counter);
        end.extend(change.id.peer, change.id.counter + crdt::atom_count(change));
    }
    // What the blob's changes build on and it does not hold.
    crdt::Frontiers before;
    for (const Change& change : all) {
        for (const crdt::OpId dep : change.deps) {
            const auto start = starts.find(dep.peer);
            if (start == starts.end() || dep.counter < start->second) before.push_back(dep);
        }
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    Map start;
    for (const auto& [peer, counter] : starts) start.append(cat(peer), counter);
    return Value(Map{{"mode", "updates"},
                     {"start_vv", std::move(start)},
                     {"end_vv", to_json(end)},
                     {"start_frontiers", to_json(before)},
                     {"change_count", all.size()},
                     {"start_timestamp", all.empty() ? 0 : all.front().timestamp},
                     {"end_timestamp", all.empty() ? 0 : all.back().timestamp}});
}

constexpr std::array kOps = {
    EngineOp{"export", export_blob},        EngineOp{"import", import_blob},
    EngineOp{"import_batch", import_batch}, EngineOp{"changes", changes},
    EngineOp{"inspect", inspect},
};

}  // namespace

std::span<const EngineOp> engine_exchange_ops() {
    return kOps;
}

}  // namespace quire::cli

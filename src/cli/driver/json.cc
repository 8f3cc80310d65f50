// export_json and import_json: history as JSON.
#include <algorithm>
#include <array>

#include "cli/driver/imports.h"
#include "cli/driver/session.h"
#include "codec/json_updates.h"

namespace quire::cli {
namespace {

Result<Value> export_json(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find_whole(request));
    const crdt::VersionVector from = TRY(request.version_or_empty("from"));
    const crdt::VersionVector to = TRY(request.version_or_empty("to"));
    const crdt::Doc& doc = document->doc;
    std::vector<crdt::IdSpan> spans;
    for (const auto& [peer, known] : doc.history().version().ends()) {
        const crdt::Counter end = request.has("to") ? std::min(known, to.end_of(peer)) : known;
        if (from.end_of(peer) < end) spans.push_back({peer, from.end_of(peer), end});
    }
    return codec::encode_json_updates(doc.changes_in(spans).changes(),
                                      doc.history().heads_of(from));
}

Result<Value> import_json(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const Value* json = TRY(request.json("json"));
    const std::vector<crdt::Change> changes = TRY(codec::decode_json_updates(*json));
    return import_changes(documents, *document, changes, {.says_less = true});
}

constexpr std::array kJsonOps = {
    EngineOp{"export_json", export_json},
    EngineOp{"import_json", import_json},
};

}  // namespace

std::span<const EngineOp> engine_json_ops() {
    return kJsonOps;
}

}  // namespace quire::cli

// export_json and import_json: history as JSON.
//
// The range between two version vectors is cut out peer by peer; where `to` is beyond what is
// known, it ends there. The result may be as large as the document, so it is written as text at
// once.
#include <algorithm>
#include <array>

#include "cli/driver/imports.h"
#include "cli/driver/operation.h"
#include "codec/json_updates.h"
#include "crdt/doc/history.h"

namespace quire::cli {
namespace {

Result<JsonText> export_json(WholeDocument document, const std::optional<crdt::VersionVector>& from,
                             const std::optional<crdt::VersionVector>& to) {
    const crdt::VersionVector start = from.value_or(crdt::VersionVector());
    const crdt::Doc& doc = document->doc;
    std::vector<crdt::IdSpan> spans;
    for (const auto& [peer, known] : doc.history().version().ends()) {
        const crdt::Counter end = to ? std::min(known, to->end_of(peer)) : known;
        if (start.end_of(peer) < end) spans.push_back({peer, start.end_of(peer), end});
    }
    return JsonText{TRY(
        codec::write_json_updates(doc.changes_in(spans).changes(), doc.history().heads_of(start)))};
}

// JSON says less than the ops it was made from, so known ops are not compared with it in full.
Result<Value> import_json(EngineDocuments& documents, AnyDocument document, const RawJson& json) {
    const std::vector<crdt::Change> changes = TRY(codec::decode_json_updates(json.value));
    return import_changes(documents, *document, changes, {.says_less = true});
}

constexpr std::array kJsonOps = {
    engine_op<export_json>("export_json", "from", "to"),
    engine_op<import_json>("import_json", "json"),
};

}  // namespace

std::span<const EngineOp> engine_json_ops() {
    return kJsonOps;
}

}  // namespace quire::cli

// Methods of a document as a whole: making and dropping it, its commits, its value, its size.
//
// value_with_ids walks the containers from the roots; a container deeper than a value may be nested
// is null, so the walk is bounded. The other methods only forward to crdt::Doc.
#include <array>
#include <cstdio>
#include <optional>
#include <set>

#include <unistd.h>

#include "base/check.h"
#include "base/concat.h"
#include "cli/driver/richtext.h"
#include "cli/driver/session.h"
#include "codec/updates.h"
#include "crdt/ids/container_text.h"
#include "crdt/ids/mergeable.h"
#include "json/json.h"

namespace quire::cli {
namespace {

using crdt::ContainerKind;

constexpr std::int64_t kMergeInterval = 1000;  // Seconds, as in Loro.

Result<Value> make_document(EngineDocuments& documents, const EngineRequest& request) {
    const std::string name = TRY(request.text("doc"));
    const bool timestamps = TRY(request.flag_or("timestamps", false));
    const crdt::PeerId peer = TRY(documents.peer_of(request));
    EngineDocument* document = TRY(documents.add(name, peer));
    document->doc.settings().merge_interval = kMergeInterval;
    document->record_timestamps = timestamps;
    return Value(true);
}

Result<Value> drop_document(EngineDocuments& documents, const EngineRequest& request) {
    TRY(documents.find(request));
    documents.drop(TRY(request.text("doc")));
    return Value(true);
}

Result<Value> set_peer(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const crdt::PeerId peer = TRY(request.peer("peer"));
    documents.settle(*document);
    document->doc.set_peer(peer);
    return Value(true);
}

Result<Value> configure(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const bool record = TRY(request.flag_or("record_timestamp", document->record_timestamps));
    std::optional<std::int64_t> interval;
    if (request.has("merge_interval")) interval = TRY(request.integer("merge_interval"));
    TRY(configure_styles(request, document->doc));
    if (interval) document->doc.settings().merge_interval = *interval;
    document->record_timestamps = record;
    return Value(true);
}

Result<Value> commit_document(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    crdt::CommitOptions options{.want_diff = false};
    options.message = TRY(request.text_or("message", ""));
    options.origin = TRY(request.text_or("origin", ""));
    options.timestamp = request.has("timestamp") ? TRY(request.integer("timestamp"))
                                                 : documents.timestamp_of(*document);
    documents.commit(*document, std::move(options));
    return to_json(document->doc.frontiers());
}

Result<Value> deep_value(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    if (request.has("cid")) {
        const crdt::ContainerId id = TRY(request.container("cid"));
        return document->doc.value(EngineDocuments::open(*document, id));
    }
    Value roots = document->doc.value();
    for (const crdt::ContainerId& id : document->roots) {
        if (!roots.as_map().contains(id.root_name()))
            roots.as_map().append(id.root_name(), document->doc.value(document->doc.open(id)));
    }
    return roots;
}

// The value of a container in which each container is {cid, value}. A container below the deepest
// level that values show is null.
Value with_ids(crdt::Doc& doc, const crdt::ContainerId& id, int depth) {
    if (depth > crdt::kMaxValueDepth) return nullptr;
    const crdt::Handle handle = doc.open(id);
    Value inside;
    if (id.kind == ContainerKind::map) {
        Map map;
        for (const std::string& key : doc.map(handle).keys()) {
            if (const auto child = doc.map(handle).child(key)) {
                map.append(key, with_ids(doc, *child, depth + 1));
            } else {
                map.append(key, std::get<Value>(doc.map(handle).get(key).value()));
            }
        }
        inside = std::move(map);
    } else if (id.kind == ContainerKind::list) {
        List list;
        for (std::size_t i = 0; i < doc.list(handle).size(); ++i) {
            const crdt::Slot slot = doc.list(handle).get(i);
            const bool is_child = std::holds_alternative<ContainerKind>(slot);
            list.push_back(is_child ? with_ids(doc, doc.list(handle).child(i), depth + 1)
                                    : std::get<Value>(slot));
        }
        inside = std::move(list);
    } else if (id.kind == ContainerKind::movable_list) {
        List list;
        for (std::size_t i = 0; i < doc.movable_list(handle).size(); ++i) {
            const crdt::Item item = doc.movable_list(handle).get(i);
            const auto* child = std::get_if<crdt::ContainerId>(&item);
            list.push_back(child != nullptr ? with_ids(doc, *child, depth + 1)
                                            : std::get<Value>(item));
        }
        inside = std::move(list);
    } else if (id.kind == ContainerKind::counter) {
        inside = doc.counter(handle).value();
    } else if (id.kind == ContainerKind::text) {
        inside = doc.text(handle).rope().str();
    } else if (id.kind == ContainerKind::tree) {
        std::vector<crdt::TreeNode> nodes = doc.tree(handle).nodes();
        const auto limit = static_cast<std::size_t>(crdt::kMaxValueDepth - depth);
        std::erase_if(nodes, [&](const auto& node) { return node.depth >= limit; });
        inside = crdt::nested(nodes, [&](crdt::OpId node, std::size_t level) {
            const auto meta = crdt::ContainerId::normal(node, ContainerKind::map);
            if (crdt::Inspection(doc).parent_of(meta) != id) {
                // The node has no Map of its own here.
                return Value(Map{{"cid", crdt::to_text(meta)}, {"value", Map()}});
            }
            return with_ids(doc, meta, depth + static_cast<int>(level) + 1);
        });
    }
    return Map{{"cid", crdt::to_text(id)}, {"value", std::move(inside)}};
}

Result<Value> value_with_ids(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find_read(request));
    // Roots in the order of their ids.
    std::set<crdt::ContainerId> written;
    for (const crdt::Handle handle : crdt::Inspection(document->doc).written()) {
        const crdt::ContainerId& id = document->doc.id_of(handle);
        if (id.is_root() && !crdt::mergeable_parent(id)) written.insert(id);
    }
    Map roots;
    for (const crdt::ContainerId& id : written)
        roots.set(id.root_name(), with_ids(document->doc, id, 0));
    for (const crdt::ContainerId& id : document->roots) {
        if (!roots.contains(id.root_name()))
            roots.append(id.root_name(), with_ids(document->doc, id, 0));
    }
    return Value(std::move(roots));
}

std::size_t resident_bytes() {
    std::FILE* file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) return 0;
    unsigned long total = 0;
    unsigned long resident = 0;
    const int read = std::fscanf(file, "%lu %lu", &total, &resident);
    std::fclose(file);
    return read == 2 ? resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

// `oplog_bytes` is the size of an export of all updates, `state_bytes` that of the value as JSON.
// Pending ops count as ops, but belong to no change yet.
Result<Value> document_stats(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find_read(request));
    const std::vector<crdt::Change> changes = document->doc.changes_since({}).changes();
    const auto pending = static_cast<std::size_t>(document->doc.pending().size());
    return Value(Map{{"ops", document->doc.history().op_count() + pending},
                     {"changes", changes.size()},
                     {"containers", crdt::Inspection(document->doc).written().size()},
                     {"oplog_bytes", codec::encode_updates(changes).size()},
                     {"state_bytes", json::write(document->doc.value()).size()},
                     {"resident_bytes", resident_bytes()}});
}

constexpr std::array kDocumentOps = {
    EngineOp{"new", make_document},
    EngineOp{"drop", drop_document},
    EngineOp{"set_peer", set_peer},
    EngineOp{"config", configure},
    EngineOp{"commit", commit_document},
    EngineOp{"value", deep_value},
    EngineOp{"value_with_ids", value_with_ids},
    EngineOp{"stats", document_stats},
};

}  // namespace

std::span<const EngineOp> engine_document_ops() {
    return kDocumentOps;
}

}  // namespace quire::cli

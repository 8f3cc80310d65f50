// Methods of a document as a whole: making and dropping it, its commits, its value, its size.
//
// value_with_ids walks the containers from the roots; a container deeper than a value may be nested
// is null, so the walk is bounded. The other methods only forward to crdt::Doc.
#include <array>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/concat.h"
#include "base/process_memory.h"
#include "cli/driver/operation.h"
#include "cli/driver/richtext.h"
#include "codec/updates.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/doc/tree_values.h"
#include "crdt/ids/container_text.h"
#include "crdt/ids/mergeable.h"
#include "json/json.h"

namespace quire::cli {
namespace {

using crdt::ContainerKind;

// A commit that follows its peer's last change within this time may become part of that change.
constexpr std::int64_t kMergeInterval = 1000;  // Seconds, as in Loro.

Result<void> make_document(EngineDocuments& documents, const std::string& name,
                           std::optional<bool> timestamps, std::optional<Peer> peer) {
    EngineDocument* document = TRY(documents.add(name, documents.peer_or_random(peer)));
    document->doc.settings().merge_interval = kMergeInterval;
    document->record_timestamps = timestamps.value_or(false);
    return {};
}

// The document is found before `name` is read, because reading moves the text out of the request
// and both come from the member `doc`. An unknown name thus is an error.
Result<void> drop_document(EngineDocuments& documents, AnyDocument, const std::string& name) {
    documents.drop(name);
    return {};
}

// Pending ops were written by the old peer, so they are committed first.
Result<void> set_peer(EngineDocuments& documents, AnyDocument document, Peer peer) {
    documents.settle(*document);
    document->doc.set_peer(peer.id);
    return {};
}

// Styles come first because they alone can be refused: a refused request changes nothing. Switching
// detached editing is an end of the transaction, so that is left alone if the setting is the one in
// force.
Result<void> configure(EngineDocuments& documents, AnyDocument document,
                       std::optional<bool> record_timestamps,
                       std::optional<std::int64_t> merge_interval,
                       const std::optional<Value>& text_styles,
                       const std::optional<RawJson>& default_text_style,
                       std::optional<bool> detached_editing) {
    TRY(configure_styles(document->doc, text_styles, default_text_style));
    if (merge_interval) document->doc.settings().merge_interval = *merge_interval;
    if (record_timestamps) document->record_timestamps = *record_timestamps;
    if (detached_editing && *detached_editing != document->edits_detached) {
        documents.settle(*document);
        document->edits_detached = *detached_editing;
        document->doc.edit_detached(*detached_editing
                                        ? [&documents] { return documents.peer_or_random({}); }
                                        : Function<crdt::PeerId()>());
    }
    return {};
}

Result<crdt::Frontiers> commit_document(EngineDocuments& documents, AnyDocument document,
                                        std::optional<std::string> message,
                                        std::optional<std::string> origin,
                                        std::optional<std::int64_t> timestamp) {
    crdt::CommitOptions options{.want_diff = false};
    options.message = message.value_or("");
    options.origin = origin.value_or("");
    options.timestamp = timestamp.value_or(documents.timestamp_of(*document));
    documents.commit(*document, std::move(options));
    return document->doc.frontiers();
}

// Roots that requests have named and no op was written to are added: a client that opened a text
// sees it as empty, not as absent.
Result<Value> deep_value(AnyDocument document, const std::optional<crdt::ContainerId>& id) {
    if (id) return document->doc.value(TRY(EngineDocuments::open(*document, *id)));
    Value roots = document->doc.value();
    for (const crdt::ContainerId& root : document->roots) {
        if (!roots.as_map().contains(root.root_name()))
            roots.as_map().append(root.root_name(), document->doc.value(document->doc.open(root)));
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

Result<Map> value_with_ids(LoadedDocument document) {
    Map roots;
    const auto add = [&](const crdt::ContainerId& id) {
        if (!roots.contains(id.root_name()))
            roots.append(id.root_name(), with_ids(document->doc, id, 0));
    };
    const crdt::Inspection inspection(document->doc);
    for (const crdt::Handle root : inspection.shown_roots()) add(document->doc.id_of(root));
    // The others that were ever written to are there, too, and empty.
    std::set<crdt::ContainerId> written;
    for (const crdt::Handle handle : inspection.written()) {
        const crdt::ContainerId& id = document->doc.id_of(handle);
        if (id.is_root() && !crdt::mergeable_parent(id)) written.insert(id);
    }
    std::ranges::for_each(written, add);
    std::ranges::for_each(document->roots, add);
    return roots;
}

// `oplog_bytes` is the size of an export of all updates, `state_bytes` that of the value as JSON.
// Pending ops count as ops, but belong to no change yet.
Result<Map> document_stats(LoadedDocument document) {
    const std::vector<crdt::Change> changes = document->doc.changes_since({}).changes();
    const auto pending = static_cast<std::size_t>(document->doc.pending().size());
    return Map{{"ops", document->doc.history().op_count() + pending},
               {"changes", changes.size()},
               {"containers", crdt::Inspection(document->doc).written().size()},
               {"oplog_bytes", codec::encode_updates(changes).size()},
               {"state_bytes", json::write(document->doc.value()).size()},
               {"resident_bytes", resident_size()}};
}

constexpr std::array kDocumentOps = {
    engine_op<make_document>("new", "doc", "timestamps", "peer"),
    engine_op<drop_document>("drop", "doc"),
    engine_op<set_peer>("set_peer", "peer"),
    engine_op<configure>("config", "record_timestamp", "merge_interval", "text_styles",
                         "default_text_style", "detached_editing"),
    engine_op<commit_document>("commit", "message", "origin", "timestamp"),
    engine_op<deep_value>("value", "cid"),
    engine_op<value_with_ids>("value_with_ids"),
    engine_op<document_stats>("stats"),
};

}  // namespace

std::span<const EngineOp> engine_document_ops() {
    return kDocumentOps;
}

}  // namespace quire::cli

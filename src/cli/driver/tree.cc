// tree.*: a node is named by its id, "counter@peer"; no parent is the root.
#include <array>

#include "base/concat.h"
#include "cli/driver/session.h"
#include "crdt/ids/container_text.h"

namespace quire::cli {
namespace {

Result<std::optional<std::size_t>> tree_index(const EngineRequest& request) {
    if (!request.has("index")) return std::optional<std::size_t>();
    return std::optional(TRY(request.size("index")));
}

Result<std::optional<crdt::OpId>> tree_parent(const EngineRequest& request) {
    if (!request.has("parent")) return std::optional<crdt::OpId>();
    return std::optional(TRY(request.op_id("parent")));
}

Result<Value> tree_create(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    const auto parent = TRY(tree_parent(request));
    const auto index = TRY(tree_index(request));
    const crdt::OpId node = TRY(target.doc.tree(target.handle).create(parent, index));
    return Value(crdt::to_text(node));
}

Result<Value> tree_move(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    const crdt::OpId node = TRY(request.op_id("node"));
    const auto parent = TRY(tree_parent(request));
    const auto index = TRY(tree_index(request));
    TRY(target.doc.tree(target.handle).move(node, parent, index));
    return Value(true);
}

Result<Value> tree_erase(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    const crdt::OpId node = TRY(request.op_id("node"));
    TRY(target.doc.tree(target.handle).erase(node));
    return Value(true);
}

Result<Value> tree_meta(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    const crdt::OpId node = TRY(request.op_id("node"));
    const crdt::ContainerId map = TRY(target.doc.tree(target.handle).meta(node));
    return Value(crdt::to_text(map));
}

Result<Value> tree_nodes(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    return target.doc.value(target.handle);
}

constexpr std::array kTreeOps = {
    EngineOp{"tree.create", tree_create}, EngineOp{"tree.move", tree_move},
    EngineOp{"tree.delete", tree_erase},  EngineOp{"tree.meta", tree_meta},
    EngineOp{"tree.nodes", tree_nodes},
};

}  // namespace

std::span<const EngineOp> engine_tree_ops() {
    return kTreeOps;
}

}  // namespace quire::cli

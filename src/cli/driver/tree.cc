// tree.*: a node is named by its id, "counter@peer"; no parent is the root.
#include <array>

#include "base/concat.h"
#include "cli/driver/session.h"
#include "crdt/ids/container_text.h"

namespace quire::cli {
namespace {

Result<std::optional<std::size_t>> index_of(const EngineRequest& request) {
    if (!request.has("index")) return std::optional<std::size_t>();
    return std::optional(TRY(request.size("index")));
}

Result<std::optional<crdt::OpId>> parent_of(const EngineRequest& request) {
    if (!request.has("parent")) return std::optional<crdt::OpId>();
    return std::optional(TRY(request.op_id("parent")));
}

Result<Value> create(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    const auto parent = TRY(parent_of(request));
    const auto index = TRY(index_of(request));
    const crdt::OpId node = TRY(target.doc.tree(target.handle).create(parent, index));
    return Value(crdt::to_text(node));
}

Result<Value> move(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    const crdt::OpId node = TRY(request.op_id("node"));
    const auto parent = TRY(parent_of(request));
    const auto index = TRY(index_of(request));
    TRY(target.doc.tree(target.handle).move(node, parent, index));
    return Value(true);
}

Result<Value> erase(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    const crdt::OpId node = TRY(request.op_id("node"));
    TRY(target.doc.tree(target.handle).erase(node));
    return Value(true);
}

Result<Value> meta(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    const crdt::OpId node = TRY(request.op_id("node"));
    const crdt::ContainerId map = TRY(target.doc.tree(target.handle).meta(node));
    return Value(crdt::to_text(map));
}

Result<Value> nodes(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, crdt::ContainerKind::tree));
    return target.doc.value(target.handle);
}

constexpr std::array kOps = {
    EngineOp{"tree.create", create}, EngineOp{"tree.move", move},   EngineOp{"tree.delete", erase},
    EngineOp{"tree.meta", meta},     EngineOp{"tree.nodes", nodes},
};

}  // namespace

std::span<const EngineOp> engine_tree_ops() {
    return kOps;
}

}  // namespace quire::cli

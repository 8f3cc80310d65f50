// mlist.*
#include <array>

#include "cli/engine/session.h"
#include "crdt/ids/container_text.h"

namespace quire::cli {
namespace {

using crdt::ContainerKind;

struct Target {
    crdt::Doc& doc;
    crdt::Handle handle;
};

Result<Target> target_of(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const crdt::ContainerId id = TRY(request.container("cid", ContainerKind::movable_list));
    return Target{document->doc, document->doc.open(id)};
}

Result<Value> insert(EngineDocuments& documents, const EngineRequest& request) {
    const Target list = TRY(target_of(documents, request));
    const std::size_t at = TRY(request.size("pos"));
    Value value = TRY(request.value("value"));
    TRY(list.doc.mlist_insert(list.handle, at, std::move(value)));
    return Value(true);
}

Result<Value> erase(EngineDocuments& documents, const EngineRequest& request) {
    const Target list = TRY(target_of(documents, request));
    const std::size_t at = TRY(request.size("pos"));
    const std::size_t length = TRY(request.size("len"));
    TRY(list.doc.mlist_erase(list.handle, at, length));
    return Value(true);
}

Result<Value> insert_container(EngineDocuments& documents, const EngineRequest& request) {
    const Target list = TRY(target_of(documents, request));
    const std::size_t at = TRY(request.size("pos"));
    const ContainerKind kind = TRY(request.kind("kind"));
    const crdt::ContainerId child = TRY(list.doc.mlist_insert_container(list.handle, at, kind));
    return Value(crdt::to_text(child));
}

Result<Value> set(EngineDocuments& documents, const EngineRequest& request) {
    const Target list = TRY(target_of(documents, request));
    const std::size_t at = TRY(request.size("pos"));
    Value value = TRY(request.value("value"));
    TRY(list.doc.mlist_set(list.handle, at, std::move(value)));
    return Value(true);
}

Result<Value> set_container(EngineDocuments& documents, const EngineRequest& request) {
    const Target list = TRY(target_of(documents, request));
    const std::size_t at = TRY(request.size("pos"));
    const ContainerKind kind = TRY(request.kind("kind"));
    const crdt::ContainerId child = TRY(list.doc.mlist_set_container(list.handle, at, kind));
    return Value(crdt::to_text(child));
}

Result<Value> move(EngineDocuments& documents, const EngineRequest& request) {
    const Target list = TRY(target_of(documents, request));
    const std::size_t from = TRY(request.size("from"));
    const std::size_t to = TRY(request.size("to"));
    TRY(list.doc.mlist_move(list.handle, from, to));
    return Value(true);
}

constexpr std::array kOps = {
    EngineOp{"mlist.insert", insert},
    EngineOp{"mlist.delete", erase},
    EngineOp{"mlist.insert_container", insert_container},
    EngineOp{"mlist.set", set},
    EngineOp{"mlist.set_container", set_container},
    EngineOp{"mlist.move", move},
};

}  // namespace

std::span<const EngineOp> engine_movable_ops() {
    return kOps;
}

}  // namespace quire::cli

// list.* and map.*.
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

Result<Target> target_of(EngineDocuments& documents, const EngineRequest& request,
                         ContainerKind kind) {
    EngineDocument* document = TRY(documents.find(request));
    const crdt::ContainerId id = TRY(request.container("cid", kind));
    return Target{document->doc, document->doc.open(id)};
}

Result<Value> list_insert(EngineDocuments& documents, const EngineRequest& request) {
    const Target list = TRY(target_of(documents, request, ContainerKind::list));
    const std::size_t at = TRY(request.size("pos"));
    Value value = TRY(request.value("value"));
    TRY(list.doc.list_insert(list.handle, at, std::move(value)));
    return Value(true);
}

Result<Value> list_erase(EngineDocuments& documents, const EngineRequest& request) {
    const Target list = TRY(target_of(documents, request, ContainerKind::list));
    const std::size_t at = TRY(request.size("pos"));
    const std::size_t length = TRY(request.size("len"));
    TRY(list.doc.list_erase(list.handle, at, length));
    return Value(true);
}

Result<Value> list_insert_container(EngineDocuments& documents, const EngineRequest& request) {
    const Target list = TRY(target_of(documents, request, ContainerKind::list));
    const std::size_t at = TRY(request.size("pos"));
    const ContainerKind kind = TRY(request.kind("kind"));
    const crdt::ContainerId child = TRY(list.doc.list_insert_container(list.handle, at, kind));
    return Value(crdt::to_text(child));
}

Result<Value> map_set(EngineDocuments& documents, const EngineRequest& request) {
    const Target map = TRY(target_of(documents, request, ContainerKind::map));
    const std::string key = TRY(request.text("key"));
    Value value = TRY(request.value("value"));
    TRY(map.doc.map_set(map.handle, key, std::move(value)));
    return Value(true);
}

Result<Value> map_erase(EngineDocuments& documents, const EngineRequest& request) {
    const Target map = TRY(target_of(documents, request, ContainerKind::map));
    const std::string key = TRY(request.text("key"));
    TRY(map.doc.map_erase(map.handle, key));
    return Value(true);
}

Result<Value> map_insert_container(EngineDocuments& documents, const EngineRequest& request) {
    const Target map = TRY(target_of(documents, request, ContainerKind::map));
    const std::string key = TRY(request.text("key"));
    const ContainerKind kind = TRY(request.kind("kind"));
    const crdt::ContainerId child = TRY(map.doc.map_insert_container(map.handle, key, kind));
    return Value(crdt::to_text(child));
}

constexpr std::array kOps = {
    EngineOp{"list.insert", list_insert},
    EngineOp{"list.delete", list_erase},
    EngineOp{"list.insert_container", list_insert_container},
    EngineOp{"map.set", map_set},
    EngineOp{"map.delete", map_erase},
    EngineOp{"map.insert_container", map_insert_container},
};

}  // namespace

std::span<const EngineOp> engine_container_ops() {
    return kOps;
}

}  // namespace quire::cli

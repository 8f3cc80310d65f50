// list.*, mlist.* and map.*.
#include <array>

#include "cli/driver/session.h"
#include "crdt/ids/container_text.h"

namespace quire::cli {
namespace {

using crdt::ContainerKind;
using crdt::ListView;
using crdt::MapView;
using crdt::MovableListView;

// The place in a container that the request names: an index, or a key.
template <ContainerKind kKind>
auto place_of(const EngineRequest& request) {
    if constexpr (kKind == ContainerKind::map) {
        return request.text("key");
    } else {
        return request.size("pos");
    }
}

template <ContainerKind kKind>
auto view_of(const EngineTarget& target) {
    if constexpr (kKind == ContainerKind::list) {
        return target.doc.list(target.handle);
    } else if constexpr (kKind == ContainerKind::movable_list) {
        return target.doc.movable_list(target.handle);
    } else {
        return target.doc.map(target.handle);
    }
}

// The methods of a view that write a value at a place, make a container there, and erase.
template <ContainerKind kKind, auto kWrite>
Result<Value> write_value(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, kKind));
    const auto at = TRY(place_of<kKind>(request));
    Value value = TRY(request.value("value"));
    TRY((view_of<kKind>(target).*kWrite)(at, std::move(value)));
    return Value(true);
}

template <ContainerKind kKind, auto kMake>
Result<Value> make_container(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, kKind));
    const auto at = TRY(place_of<kKind>(request));
    const ContainerKind kind = TRY(request.kind("kind"));
    const crdt::ContainerId child = TRY((view_of<kKind>(target).*kMake)(at, kind));
    return Value(crdt::to_text(child));
}

template <ContainerKind kKind, auto kErase>
Result<Value> erase_items(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, kKind));
    const std::size_t at = TRY(request.size("pos"));
    const std::size_t length = TRY(request.size("len"));
    TRY((view_of<kKind>(target).*kErase)(at, length));
    return Value(true);
}

Result<Value> map_erase(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget map = TRY(documents.target(request, ContainerKind::map));
    const std::string key = TRY(request.text("key"));
    TRY(map.doc.map(map.handle).erase(key));
    return Value(true);
}

Result<Value> mlist_move(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget list = TRY(documents.target(request, ContainerKind::movable_list));
    const std::size_t from = TRY(request.size("from"));
    const std::size_t to = TRY(request.size("to"));
    TRY(list.doc.movable_list(list.handle).move(from, to));
    return Value(true);
}

constexpr auto kList = ContainerKind::list;
constexpr auto kMovable = ContainerKind::movable_list;
constexpr auto kMap = ContainerKind::map;

constexpr std::array kContainerOps = {
    EngineOp{"list.insert", write_value<kList, &ListView::insert>},
    EngineOp{"list.delete", erase_items<kList, &ListView::erase>},
    EngineOp{"list.insert_container", make_container<kList, &ListView::insert_container>},
    EngineOp{"mlist.insert", write_value<kMovable, &MovableListView::insert>},
    EngineOp{"mlist.delete", erase_items<kMovable, &MovableListView::erase>},
    EngineOp{"mlist.insert_container",
             make_container<kMovable, &MovableListView::insert_container>},
    EngineOp{"mlist.set", write_value<kMovable, &MovableListView::set>},
    EngineOp{"mlist.set_container", make_container<kMovable, &MovableListView::set_container>},
    EngineOp{"mlist.move", mlist_move},
    EngineOp{"map.set", write_value<kMap, &MapView::set>},
    EngineOp{"map.delete", map_erase},
    EngineOp{"map.insert_container", make_container<kMap, &MapView::insert_container>},
};

}  // namespace

std::span<const EngineOp> engine_container_ops() {
    return kContainerOps;
}

}  // namespace quire::cli

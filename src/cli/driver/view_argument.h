// The containers of documents as arguments of the operations of `quire engine`: a parameter that is
// a view of one kind takes the container that the request names.
//
// Each view has a specialisation of Argument that opens the container by the member `cid` in the
// document that `doc` names. The id tells the container's kind, so a request that applies an
// operation to a container of another kind is refused before the document is touched.
#pragma once

#include "base/concat.h"
#include "cli/driver/argument.h"
#include "cli/driver/session.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/ids/container_text.h"

namespace quire::cli {

// The container `cid` of the document. Errors also: invalid_argument "wrong_kind"; those of
// EngineDocuments::open().
template <class View, crdt::ContainerKind kKind, View (crdt::Doc::*kOpen)(crdt::Handle)>
struct ViewArgument {
    static constexpr bool kIsNamed = false;
    static Result<View> read(EngineCall& call) {
        EngineDocument* const document = TRY(call.documents.find(call.members));
        const auto id = TRY(Argument<crdt::ContainerId>::member(call, "cid"));
        if (id.kind != kKind)
            return invalid("wrong_kind", cat(crdt::to_text(id), " is no ", crdt::to_text(kKind)));
        return (document->doc.*kOpen)(TRY(EngineDocuments::open(*document, id)));
    }
};
template <>
struct Argument<crdt::TextView>
    : ViewArgument<crdt::TextView, crdt::ContainerKind::text, &crdt::Doc::text> {};
template <>
struct Argument<crdt::ListView>
    : ViewArgument<crdt::ListView, crdt::ContainerKind::list, &crdt::Doc::list> {};
template <>
struct Argument<crdt::MovableListView>
    : ViewArgument<crdt::MovableListView, crdt::ContainerKind::movable_list,
                   &crdt::Doc::movable_list> {};
template <>
struct Argument<crdt::MapView>
    : ViewArgument<crdt::MapView, crdt::ContainerKind::map, &crdt::Doc::map> {};
template <>
struct Argument<crdt::TreeView>
    : ViewArgument<crdt::TreeView, crdt::ContainerKind::tree, &crdt::Doc::tree> {};
template <>
struct Argument<crdt::CounterView>
    : ViewArgument<crdt::CounterView, crdt::ContainerKind::counter, &crdt::Doc::counter> {};

}  // namespace quire::cli

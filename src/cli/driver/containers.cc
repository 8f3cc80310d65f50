// list.*, mlist.*, map.*, tree.* and counter.*: each is a member function of the container's view.
//
// Only tree.nodes needs a function here, because its value is asked from the document and not from
// the view. The checks of positions and kinds, and the errors, are those of the views.
#include <array>

#include "cli/driver/operation.h"
#include "cli/driver/view_argument.h"

namespace quire::cli {
namespace {

using crdt::ListView;
using crdt::MapView;
using crdt::MovableListView;
using crdt::TreeView;

Result<Value> tree_nodes(AnyDocument document, const TreeView& tree) {
    return document->doc.value(tree.handle());
}

constexpr std::array kContainerOps = {
    engine_op<&ListView::insert>("list.insert", "pos", "value"),
    engine_op<&ListView::erase>("list.delete", "pos", "len"),
    engine_op<&ListView::insert_container>("list.insert_container", "pos", "kind"),
    engine_op<&MovableListView::insert>("mlist.insert", "pos", "value"),
    engine_op<&MovableListView::erase>("mlist.delete", "pos", "len"),
    engine_op<&MovableListView::insert_container>("mlist.insert_container", "pos", "kind"),
    engine_op<&MovableListView::set>("mlist.set", "pos", "value"),
    engine_op<&MovableListView::set_container>("mlist.set_container", "pos", "kind"),
    engine_op<&MovableListView::move>("mlist.move", "from", "to"),
    engine_op<&MapView::set>("map.set", "key", "value"),
    engine_op<&MapView::erase>("map.delete", "key"),
    engine_op<&MapView::insert_container>("map.insert_container", "key", "kind"),
    engine_op<&MapView::ensure_mergeable>("map.ensure_mergeable", "key", "kind"),
    engine_op<&TreeView::create>("tree.create", "parent", "index"),
    engine_op<&TreeView::move>("tree.move", "node", "parent", "index"),
    engine_op<&TreeView::erase>("tree.delete", "node"),
    engine_op<&TreeView::meta>("tree.meta", "node"),
    engine_op<tree_nodes>("tree.nodes"),
    engine_op<&crdt::CounterView::add>("counter.add", "delta"),
};

}  // namespace

std::span<const EngineOp> engine_container_ops() {
    return kContainerOps;
}

}  // namespace quire::cli

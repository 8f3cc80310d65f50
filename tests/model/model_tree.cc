#include "tests/model/model_tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/concat.h"

namespace quire::model {

namespace {

using namespace crdt;

// Erased nodes become children of this node.
constexpr OpId kGone{kNoPeer, 0};

struct Place {
    std::optional<OpId> parent;
    Bytes position;
    Lamport lamport;
    PeerId peer;
};
using Places = std::map<OpId, Place>;

bool is_below(const Places& places, std::optional<OpId> node, OpId top) {
    while (node && *node != top) {
        const auto at = places.find(*node);
        node = at == places.end() ? std::nullopt : at->second.parent;
    }
    return node.has_value();
}

Value children_of(const Places& places, std::optional<OpId> parent,
                  const std::function<Value(OpId)>& meta) {
    std::vector<std::tuple<Bytes, Lamport, PeerId, OpId>> children;
    for (const auto& [id, place] : places) {
        if (place.parent == parent)
            children.emplace_back(place.position, place.lamport, place.peer, id);
    }
    std::sort(children.begin(), children.end());
    List out;
    for (const auto& [position, lamport, peer, id] : children) {
        std::string hex;
        for (const std::uint8_t byte : position) {
            hex += "0123456789ABCDEF"[byte / 16];
            hex += "0123456789ABCDEF"[byte % 16];
        }
        out.push_back(Map{{"id", cat(id.counter, "@", id.peer)},
                          {"index", out.size()},
                          {"fractional_index", hex},
                          {"meta", meta(id)},
                          {"children", children_of(places, id, meta)}});
    }
    return out;
}

}  // namespace

Value tree_value(std::vector<TreeOp> ops, const std::function<Value(OpId)>& meta) {
    std::sort(ops.begin(), ops.end(), [](const TreeOp& a, const TreeOp& b) {
        return std::pair(a.lamport, a.peer) < std::pair(b.lamport, b.peer);
    });
    Places places;
    for (const TreeOp& op : ops) {
        OpId target;
        Place place{std::nullopt, {}, op.lamport, op.peer};
        if (const auto* create = std::get_if<TreeCreate>(&op.content)) {
            target = create->target;
            place.parent = create->parent;
            place.position = create->position;
        } else if (const auto* move = std::get_if<TreeMove>(&op.content)) {
            target = move->target;
            place.parent = move->parent;
            place.position = move->position;
        } else {
            target = std::get<TreeErase>(op.content).target;
            place.parent = kGone;
        }
        if (!is_below(places, place.parent, target)) places[target] = place;
    }
    return children_of(places, std::nullopt, meta);
}

}  // namespace quire::model

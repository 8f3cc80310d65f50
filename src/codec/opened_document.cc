#include "codec/opened_document.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/check.h"
#include "codec/container_ids.h"
#include "crdt/doc/tree_values.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::OpId;

Value nothing_of(ContainerKind kind) {
    switch (kind) {
        case ContainerKind::map:
            return Map();
        case ContainerKind::list:
        case ContainerKind::tree:
        case ContainerKind::movable_list:
            return List();
        case ContainerKind::text:
            return "";
        case ContainerKind::counter:
            return 0.0;
    }
    return nullptr;
}

// The nodes that are alive in the order in which readers see them.
std::vector<crdt::TreeNode> alive_nodes(const TreeState& state) {
    std::map<std::optional<OpId>, std::vector<const TreeNode*>> children;
    for (const TreeNode& node : state.nodes) children[node.parent].push_back(&node);
    for (auto& [parent, siblings] : children) {
        std::sort(siblings.begin(), siblings.end(), [](const TreeNode* a, const TreeNode* b) {
            const auto rank = [](const TreeNode& node) {
                return std::tuple(as_text(node.position), node.last_move.lamport,
                                  node.last_move.id.peer);
            };
            return rank(*a) < rank(*b);
        });
    }
    std::vector<crdt::TreeNode> nodes;
    struct Level {
        const std::vector<const TreeNode*>* siblings;
        std::size_t next = 0;
    };
    std::vector<Level> way;
    const auto enter = [&](const std::optional<OpId>& parent) {
        const auto found = children.find(parent);
        if (found != children.end()) way.push_back({&found->second});
    };
    enter(std::nullopt);
    while (!way.empty()) {
        Level& level = way.back();
        if (level.next == level.siblings->size()) {
            way.pop_back();
            continue;
        }
        const TreeNode& node = *(*level.siblings)[level.next];
        nodes.push_back({node.id, node.parent, level.next, way.size() - 1, node.position});
        ++level.next;
        enter(node.id);
    }
    return nodes;
}

// Values of containers and of what is in them.
class ValueReader {
public:
    explicit ValueReader(const Snapshot& snapshot)
        : snapshot_(snapshot), budget_(snapshot.budget()) {}

    Result<Value> container(const ContainerId& id, int depth) {
        if (depth > crdt::kMaxValueDepth) return Value();
        const std::optional<ContainerState> found = TRY(snapshot_.state(id, budget_));
        if (!found) return nothing_of(id.kind);
        const State& state = found->state;
        if (const auto* text = std::get_if<TextState>(&state)) return Value(text->text);
        if (const auto* counter = std::get_if<CounterState>(&state)) return Value(counter->value);
        if (const auto* map = std::get_if<MapState>(&state)) return map_value(*map, depth);
        if (const auto* tree = std::get_if<TreeState>(&state)) return tree_value(*tree, depth);
        List list;
        if (const auto* values = std::get_if<ListState>(&state)) {
            for (const StateSlot& slot : values->values) list.push_back(TRY(item(slot, depth)));
        } else if (const auto* movable = std::get_if<MovableListState>(&state)) {
            for (const MovableElement& element : movable->elements)
                list.push_back(TRY(item(element.value, depth)));
        } else {
            return Value();
        }
        return Value(std::move(list));
    }

    Result<Value> roots() {
        Map roots;
        const std::vector<ContainerId> ids = TRY(snapshot_.containers(budget_));
        for (const ContainerId& id : ids) {
            if (id.is_root()) roots.set(id.root_name(), TRY(container(id, 0)));
        }
        return Value(std::move(roots));
    }

private:
    Result<Value> item(const StateSlot& slot, int depth) {
        if (const auto* value = std::get_if<Value>(&slot)) return *value;
        return container(std::get<ContainerId>(slot), depth + 1);
    }

    Result<Value> map_value(const MapState& state, int depth) {
        Map map;
        for (const MapRegister& entry : state.registers) {
            if (entry.value) map.append(entry.key, TRY(item(*entry.value, depth)));
        }
        return Value(std::move(map));
    }

    Result<Value> tree_value(const TreeState& state, int depth) {
        std::vector<crdt::TreeNode> nodes = alive_nodes(state);
        const auto limit = static_cast<std::size_t>(std::max(0, crdt::kMaxValueDepth - depth));
        std::erase_if(nodes, [&](const crdt::TreeNode& node) { return node.depth >= limit; });
        Result<void> failed;
        Value value = crdt::nested(nodes, [&](OpId node, std::size_t level) -> Value {
            if (!failed) return {};
            auto meta = container(ContainerId::normal(node, ContainerKind::map),
                                  depth + static_cast<int>(level) + 1);
            if (meta) return std::move(*meta);
            failed = Failure(std::move(meta).error());
            return {};
        });
        TRY(std::move(failed));
        return value;
    }

    const Snapshot& snapshot_;
    Budget budget_;
};

}  // namespace

Result<OpenedDocument> OpenedDocument::open(Bytes blob) {
    auto kept = std::make_unique<const Bytes>(std::move(blob));
    Snapshot snapshot = TRY(Snapshot::open(*kept));
    if (snapshot.start()) {
        return fail(Errc::unsupported, "shallow_snapshot",
                    "this snapshot begins in the middle of its history, and a document cannot be "
                    "opened from such a one yet; import a full snapshot or updates first");
    }
    if (!snapshot.state_version()) {
        return fail(Errc::unsupported, "no_state",
                    "this snapshot holds history and no state; import it into a document");
    }
    return OpenedDocument(std::move(kept), std::move(snapshot));
}

Result<Value> OpenedDocument::value() const {
    return ValueReader(snapshot_).roots();
}

Result<Value> OpenedDocument::value(const ContainerId& id) const {
    return ValueReader(snapshot_).container(id, 0);
}

Result<std::string> OpenedDocument::text(const ContainerId& id) const {
    CHECK(id.kind == ContainerKind::text);
    std::optional<ContainerState> found = TRY(state(id));
    if (!found) return std::string();
    return std::move(std::get<TextState>(found->state).text);
}

Result<std::optional<ContainerState>> OpenedDocument::state(const ContainerId& id) const {
    Budget budget = snapshot_.budget();
    return snapshot_.state(id, budget);
}

Result<std::vector<crdt::Change>> OpenedDocument::last_changes() const {
    std::vector<crdt::Change> changes;
    Budget budget = snapshot_.budget();
    for (const OpId head : frontiers()) {
        std::vector<crdt::Change> found =
            TRY(snapshot_.changes_in({head.peer, head.counter, head.counter + 1}, budget));
        if (found.size() != 1)
            return corrupt(
                cat("the history has no single change at ", head.counter, "@", head.peer));
        changes.push_back(std::move(found.front()));
    }
    return changes;
}

Result<crdt::Doc> OpenedDocument::load(crdt::PeerId peer) const {
    crdt::Doc doc(peer);
    std::vector<crdt::Change> changes = TRY(snapshot_.changes());
    const crdt::Imported imported = TRY(doc.import(std::move(changes), {.want_diff = false}));
    if (!imported.pending.empty())
        return corrupt("the history of the snapshot depends on changes that it does not hold");
    return doc;
}

}  // namespace quire::codec

// The state at the start is taken from a fork of that version. The state at the end is written only
// if the history since the start is long, and then only the containers that differ: a reader replays
// a short history sooner than it reads a second state.
//
// The start may have to move to an earlier version than was asked for: start_for() wants a version
// that all later changes follow, and states must be able to tell what the later ops build on. If
// they are not, the earliest start that the document has is taken.
#include "codec/shallow_snapshot.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "codec/container_state.h"
#include "codec/document_snapshot.h"
#include "codec/snapshot_writer.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/shallow.h"
#include "crdt/ids/change_batch.h"

namespace quire::codec {
namespace {

using crdt::ChangeBatch;
using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;
using crdt::ElementId;
using crdt::Frontiers;
using crdt::VersionVector;

// The longest history without a state at its end, in ops. Loro's bound.
constexpr std::int64_t kMostReplayed = 256;

constexpr crdt::PeerId kNobody = 0;  // Forks that write nothing.

using States = std::map<ContainerId, Bytes>;

// For a child that was made and never written to: a document keeps nothing of it.
State empty_state(ContainerKind kind) {
    switch (kind) {
        case ContainerKind::map:
            return MapState{};
        case ContainerKind::list:
            return ListState{};
        case ContainerKind::text:
            return TextState{};
        case ContainerKind::tree:
            return TreeState{};
        case ContainerKind::movable_list:
            return MovableListState{};
        case ContainerKind::counter:
            return CounterState{};
    }
    return UnknownState{};
}

// The containers that a state shows in it.
std::vector<ContainerId> children_of(const State& state) {
    std::vector<ContainerId> children;
    const auto add = [&](const StateSlot& slot) {
        if (const auto* child = std::get_if<ContainerId>(&slot)) children.push_back(*child);
    };
    if (const auto* map = std::get_if<MapState>(&state)) {
        for (const MapRegister& entry : map->registers) {
            if (entry.value) add(*entry.value);
        }
    } else if (const auto* list = std::get_if<ListState>(&state)) {
        std::for_each(list->values.begin(), list->values.end(), add);
    } else if (const auto* movable = std::get_if<MovableListState>(&state)) {
        for (const MovableElement& element : movable->elements) add(element.value);
    } else if (const auto* tree = std::get_if<TreeState>(&state)) {
        for (const TreeNode& node : tree->nodes)
            children.push_back(ContainerId::normal(node.id, ContainerKind::map));
    }
    return children;
}

// The states that a shallow snapshot needs, and those of `also`.
// Each state is kept as bytes, so that two versions of it can be compared and written without
// another encoding.
States states_of(const Doc& doc, const States& also) {
    const crdt::Inspection inspection(doc);
    States states;
    std::vector<ContainerState> empty;
    const auto add = [&](const ContainerState& state) {
        ByteWriter out;
        write_container_state(out, state);
        if (!states.emplace(state.id, std::move(out).take()).second) return;
        for (ContainerId& child : children_of(state.state)) {
            State nothing = empty_state(child.kind);
            empty.push_back({std::move(child), state.depth + 1, state.id, std::move(nothing)});
        }
    };
    for (const ContainerState& state : container_states(doc)) {
        const auto* map = std::get_if<MapState>(&state.state);
        const bool is_foreign = map != nullptr && map->registers.empty();
        if (is_foreign || also.contains(state.id) || inspection.may_show(state.id)) add(state);
    }
    // Loro takes ops after the start into those containers only that the start has.
    for (const ContainerState& state : empty) {
        ByteWriter out;
        write_container_state(out, state);
        states.emplace(state.id, std::move(out).take());
    }
    return states;
}

// The element of a movable list that an op sets or moves; null for any other op.
const ElementId* named_element(const ChangeBatch::Row& row) {
    if (row.form != ChangeBatch::Form::content) return nullptr;
    if (const auto* set = std::get_if<crdt::ListSet>(row.content)) return &set->element;
    const auto* move = std::get_if<crdt::ListMove>(row.content);
    return move == nullptr ? nullptr : &move->element;
}

struct HashElement {
    std::size_t operator()(const ElementId& id) const {
        return std::hash<crdt::OpId>{}({id.peer, static_cast<crdt::Counter>(id.lamport)});
    }
};

// The start of a history.
struct Beginning {
    States states;
    // A container is of a kind whose state nobody here can tell, or the ops that come later change what was deleted by
    // then: a container that has no state, or an element.
    bool is_lossy = false;
};

Beginning beginning_of(const Doc& doc, const ChangeBatch& after) {
    Beginning out{states_of(doc, {}), false};
    const crdt::Inspection inspection(doc);
    const bool names_elements = std::ranges::any_of(after.rows, named_element);
    std::set<ContainerId> lost;
    std::unordered_set<ElementId, HashElement> hidden;
    for (const crdt::Handle handle : inspection.written()) {
        const ContainerId& id = doc.id_of(handle);
        if (!out.states.contains(id)) {
            lost.insert(id);
        } else if (names_elements && id.kind == ContainerKind::movable_list) {
            const std::vector<ElementId> elements = inspection.hidden_elements(handle);
            hidden.insert(elements.begin(), elements.end());
        }
    }
    const auto changes_hidden = [&](const ChangeBatch::Row& row) {
        const ElementId* element = hidden.empty() ? nullptr : named_element(row);
        return element != nullptr && hidden.contains(*element);
    };
    out.is_lossy = std::ranges::any_of(out.states,
                                       [](const auto& state) {
                                           return state.first.kind > ContainerKind::counter;
                                       }) ||
                   std::ranges::any_of(after.containers.items(),
                                       [&](const ContainerId& id) { return lost.contains(id); }) ||
                   std::ranges::any_of(after.rows, changes_hidden);
    return out;
}

Result<Beginning> beginning_at(const Doc& doc, const Frontiers& version, const ChangeBatch& after) {
    if (version.empty()) return Beginning();
    if (version == doc.history().frontiers()) return beginning_of(doc, after);
    return beginning_of(TRY(crdt::fork_at(doc, version, kNobody)), after);
}

// The start of a history that begins with the ops `heads`.
Result<HistoryStart> start_at(const Doc& doc, const Frontiers& heads) {
    HistoryStart start{{}, heads};
    if (heads.empty()) return start;
    start.end = TRY(doc.history().version_of(heads));
    // The heads' own ops are kept in the history, so the trimmed part ends just before each.
    for (const crdt::OpId head : heads) start.end.set(head.peer, head.counter);
    return start;
}

std::int64_t op_count(const VersionVector& version) {
    std::int64_t count = 0;
    for (const auto& [peer, end] : version.ends()) count += end;
    return count;
}

}  // namespace

Result<Bytes> encode_shallow_snapshot(const Doc& doc, const Frontiers& version,
                                      Compression compression) {
    TRY(doc.history().load());
    const Frontiers heads = TRY(crdt::start_for(doc, version));
    const HistoryStart start = TRY(start_at(doc, heads));
    const ChangeBatch after = doc.changes_since(start.end);
    // Other programs let their users go on to edit what they have deleted, and anybody can name what nobody made.
    const auto trimmed = doc.history().start();
    const Frontiers earliest = trimmed == nullptr ? Frontiers() : trimmed->frontiers();
    const Beginning beginning = TRY(beginning_at(doc, heads, after));
    if (beginning.is_lossy && heads != earliest)
        return encode_shallow_snapshot(doc, earliest, compression);
    const States& first = beginning.states;
    SnapshotWriter writer(compression);
    for (const auto& [id, state] : first) TRY(writer.add_stored_start_state(id, state));
    States last;
    if (op_count(doc.history().version()) - op_count(start.end) > kMostReplayed) {
        last = states_of(doc, first);
        // States that are as they were at the start are left out.
        std::erase_if(last, [&](const auto& state) {
            const auto before = first.find(state.first);
            return before != first.end() && before->second == state.second;
        });
    }
    if (last.empty()) writer.leave_out_state();
    for (const auto& [id, state] : last) TRY(writer.add_stored_state(id, state));
    writer.add_changes(after);
    return std::move(writer).finish(doc.history().version(), doc.history().frontiers(), start);
}

// An earlier version is forked first: the copy ends there, so no later change is encoded.
Result<Bytes> encode_state_only(const Doc& doc, const Frontiers& version, Compression compression) {
    const Frontiers heads = TRY(doc.history().minimal(version));
    if (heads == doc.history().frontiers()) return encode_shallow_snapshot(doc, heads, compression);
    const Doc copy = TRY(crdt::fork_at(doc, heads, kNobody));
    return encode_shallow_snapshot(copy, heads, compression);
}

}  // namespace quire::codec

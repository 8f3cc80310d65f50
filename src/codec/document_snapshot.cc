// A snapshot is the history in blocks, and the state of each container as Loro's documents keep it.
// The state is taken from the document's own structures by Inspection, one container after another,
// so that it need not be computed from the history. O(history + state).
//
// If the document was opened from a snapshot and its history was not read since, update_snapshot()
// copies most of the bytes, and this is not done at all. A shallow document stays one.
#include "codec/document_snapshot.h"

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "codec/container_state.h"
#include "codec/shallow_snapshot.h"
#include "codec/snapshot_update.h"
#include "codec/snapshot_writer.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/shallow.h"
#include "crdt/doc/tree_values.h"
#include "crdt/ids/mergeable.h"
#include "crdt/merge/fractional_index.h"
#include "crdt/merge/style.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;
using crdt::Handle;
using crdt::Inspection;
using crdt::OpId;

// A state spells a child's id out, which the engine derives from the atom that made it.
StateSlot state_slot(const crdt::Slot& slot, OpId made_by) {
    if (const auto* value = std::get_if<Value>(&slot)) return *value;
    return ContainerId::normal(made_by, std::get<ContainerKind>(slot));
}

// A style's end that stands alone, as it can be written: Loro reads starts that stand alone, and no
// ends. One styles nothing either, and takes text at its edge as the end would.
TextStyle alone(const crdt::StyleStart& ended) {
    const bool holds_back = crdt::holds_back_end(ended);
    return {ended.key, true, crdt::info_of(holds_back ? crdt::Expand::none : crdt::Expand::before)};
}

// Deleted text is gone; anchors stay as spans without text, each with the style that it begins.
TextState text_state(const Inspection& doc, Handle text) {
    TextState state;
    std::unordered_set<OpId> open;  // Styles whose starts have gone by.
    for (const Inspection::Stretch& stretch : doc.stretches(text)) {
        TextSpan span{{stretch.first, stretch.lamport}, stretch.size};
        if (stretch.ended != nullptr) {
            const OpId start{stretch.first.peer, stretch.first.counter - 1};
            const bool has_start = open.erase(start) > 0;
            span.length = has_start ? kStyleEnd : kStyleStart;
            if (!has_start) state.styles.push_back(alone(*stretch.ended));
        } else if (stretch.style != nullptr) {
            const auto& start = std::get<crdt::StyleStart>(*stretch.style);
            span.length = kStyleStart;
            state.styles.push_back({start.key, start.value, start.info});
            open.insert(stretch.first);
        }
        state.text += stretch.text;
        state.spans.push_back(span);
    }
    return state;
}

ListState list_state(const Inspection& doc, Handle list) {
    ListState state;
    for (const Inspection::Stretch& stretch : doc.stretches(list)) {
        OpId id = stretch.first;
        for (const crdt::Slot& slot : stretch.values) {
            state.values.push_back(state_slot(slot, id));
            ++id.counter;
        }
        state.ids.push_back({{stretch.first, stretch.lamport}, stretch.size});
    }
    return state;
}

MapState map_state(const Inspection& doc, Handle map) {
    MapState state;
    for (const Inspection::Register& written : doc.registers(map)) {
        MapRegister entry{
            std::string(written.key), std::nullopt, {written.lamport, written.writer.peer}};
        if (written.value != nullptr) entry.value = state_slot(*written.value, written.writer);
        state.registers.push_back(std::move(entry));
    }
    return state;
}

MovableListState movable_state(const Inspection& doc, Handle list) {
    MovableListState state;
    for (const Inspection::MovableSlot& slot : doc.movable_slots(list)) {
        state.slots.push_back({{slot.atom, slot.lamport}, slot.shows != nullptr});
        if (slot.shows == nullptr) continue;
        state.elements.push_back({{slot.element.lamport, slot.element.peer},
                                  {slot.written_at, slot.written_by.peer},
                                  state_slot(*slot.shows, slot.written_by)});
    }
    return state;
}

// An erased node has no position any more; Loro's format wants one, so it gets the one that a lone
// node has.
TreeState tree_state(const Inspection& doc, Handle tree) {
    TreeState state;
    for (Inspection::TreePlace& place : doc.tree_places(tree)) {
        TreeNode node{
            place.id, place.parent, {place.last_move, place.lamport}, std::move(place.position)};
        if (place.erased) {
            node.parent = kDeletedTreeRoot;
            node.position = *crdt::position_between({}, {});
        }
        state.nodes.push_back(std::move(node));
    }
    return state;
}

State state_of(const Inspection& doc, ContainerKind kind, Handle handle) {
    switch (kind) {
        case ContainerKind::map:
            return map_state(doc, handle);
        case ContainerKind::list:
            return list_state(doc, handle);
        case ContainerKind::text:
            return text_state(doc, handle);
        case ContainerKind::tree:
            return tree_state(doc, handle);
        case ContainerKind::movable_list:
            return movable_state(doc, handle);
        case ContainerKind::counter:
            return CounterState{doc.counter_total(handle)};
    }
    // A container of an unknown kind has no state but its ops.
    return UnknownState{};
}

// How deep each container lies, and below what. Depths are kept on the way up, so that each
// container is walked over once: O(containers). `known` spares the walk where the caller has it in
// a snapshot.
class Places {
public:
    Places(const Inspection& doc, std::size_t containers, KnownPlace known)
        : doc_(doc), containers_(containers), known_(std::move(known)) {}

    // Returns none for a container that hangs below nothing.
    std::optional<ContainerHeader> of(const ContainerId& id) {
        // The way may be long, so it is walked, not recursed; and a history that lies about who
        // made what could lead it in a circle.
        std::vector<ContainerId> way{id};
        std::uint32_t depth = 0;
        for (;;) {
            const ContainerId& last = way.back();
            if (const auto known = depths_.find(last); known != depths_.end()) {
                depth = known->second;
                way.pop_back();
                break;
            }
            if (const auto header = known_ ? known_(last) : std::nullopt) {
                depth = header->depth - 1;
                break;
            }
            std::optional<ContainerId> parent = parent_of(last);
            if (!parent) {
                if (!last.is_root()) return std::nullopt;
                break;
            }
            if (way.size() > containers_) return std::nullopt;
            way.push_back(std::move(*parent));
        }
        for (; !way.empty(); way.pop_back()) depths_.emplace(way.back(), ++depth);
        // A header from the snapshot is written again as it was.
        if (auto header = known_ ? known_(id) : std::nullopt) return header;
        return ContainerHeader{depths_.at(id), parent_of(id)};
    }

private:
    std::optional<ContainerId> parent_of(const ContainerId& id) const {
        return id.is_root() ? crdt::mergeable_parent(id) : doc_.parent_of(id);
    }

    const Inspection& doc_;
    std::size_t containers_;
    KnownPlace known_;
    std::unordered_map<ContainerId, std::uint32_t> depths_;
};

}  // namespace

std::vector<ContainerState> container_states(const Doc& doc, const Inspection& inspection,
                                             std::span<const Handle> of, KnownPlace known) {
    // A way up passes each container that was written to, and mergeable ones that were not.
    Places places(inspection, 2 * inspection.written().size(), std::move(known));
    std::vector<ContainerState> states;
    states.reserve(of.size());
    for (const Handle handle : of) {
        const ContainerId& id = doc.id_of(handle);
        std::optional<ContainerHeader> place = places.of(id);
        if (!place) continue;
        states.push_back(
            {id, place->depth, std::move(place->parent), state_of(inspection, id.kind, handle)});
    }
    return states;
}

namespace {

// Adds a map for each node that a tree has moved or erased and that an op of another container is named
// after, unless the map has a state. It is empty, and lies in that container. Without it a reader of the states
// would take the node for one that the tree made, and its map for one that can be written to.
void add_foreign_maps(const Doc& doc, const Inspection& inspection, std::span<const Handle> written,
                      std::vector<ContainerState>& states) {
    std::map<ContainerId, ContainerId> makers;
    for (const Handle handle : written) {
        if (doc.id_of(handle).kind != ContainerKind::tree) continue;
        for (const Inspection::TreePlace& place : inspection.tree_places(handle)) {
            // A node that stands where its own op put it was made by that.
            if (place.id == place.last_move) continue;
            if (auto maker = inspection.foreign_maker(handle, place.id))
                makers.emplace(ContainerId::normal(place.id, ContainerKind::map),
                               std::move(*maker));
        }
    }
    if (makers.empty()) return;
    for (const ContainerState& state : states) makers.erase(state.id);
    Places places(inspection, 2 * written.size(), {});
    for (auto& [map, maker] : makers) {
        const std::optional<ContainerHeader> above = places.of(maker);
        states.push_back({map, above ? above->depth + 1 : 2, std::move(maker), MapState{}});
    }
}

}  // namespace

std::vector<ContainerState> container_states(const Doc& doc) {
    const Inspection inspection(doc);
    const std::vector<Handle> written = inspection.written();
    std::vector<ContainerState> states = container_states(doc, inspection, written, {});
    add_foreign_maps(doc, inspection, written, states);
    return states;
}

Result<Bytes> encode_snapshot(const Doc& doc, Compression compression) {
    if (std::optional<Bytes> updated = TRY(update_snapshot(doc, compression)))
        return std::move(*updated);
    TRY(doc.history().load());
    if (const auto start = doc.history().start())
        return encode_shallow_snapshot(doc, start->frontiers(), compression);
    SnapshotWriter writer(compression);
    writer.add_changes(doc.changes_since({}));
    const std::vector<ContainerState> states = container_states(doc);
    for (const ContainerState& state : states) TRY(writer.add_state(state));
    return std::move(writer).finish(doc.history().version(), doc.history().frontiers());
}

}  // namespace quire::codec

#include "tests/model/model_movable.h"

namespace quire::model {

using namespace crdt;

void MovableModel::apply(const Op& op, OpId id, Lamport lamport, const Version& version) {
    const Rank rank{lamport, id.peer};
    const auto place = [&](const ElementId& element, std::size_t at, const Version& seen) {
        insert(slots_, {id, {}, {}, {}, "", Value()}, at, seen, fault_);
        made_for_[id] = element;
        elements_[element].places[rank] = id;
    };
    if (const auto* made = std::get_if<ListInsert>(&op.content)) {
        const ElementId element{id.peer, lamport};
        place(element, made->pos, version);
        elements_[element].values[rank] = {id, made->values[0]};
    } else if (const auto* gone = std::get_if<SequenceDelete>(&op.content)) {
        erase(slots_, id, static_cast<std::size_t>(gone->pos), version, fault_);
    } else if (const auto* move = std::get_if<ListMove>(&op.content)) {
        // The target position is counted without the slot that the element leaves.
        erase(slots_, id, move->from, version, Fault::none);
        Version after = version;
        after.insert(id);
        place(move->element, move->to, after);
    } else if (const auto* set = std::get_if<ListSet>(&op.content)) {
        elements_[set->element].values[rank] = {id, set->value};
    }
}

std::vector<std::pair<OpId, Slot>> MovableModel::items() const {
    std::vector<std::pair<OpId, Slot>> items;
    for (const Element& slot : slots_) {
        const Writes& writes = elements_.at(made_for_.at(slot.id));
        if (slot.deleted_by.empty() && writes.places.rbegin()->second == slot.id)
            items.push_back(writes.values.rbegin()->second);
    }
    return items;
}

}  // namespace quire::model

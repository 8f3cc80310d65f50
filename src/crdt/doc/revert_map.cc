// Taking back what was written to maps.
#include "crdt/doc/revert.h"

namespace quire::crdt {

void Reversal::map(Container& c) {
    Container* to = living(c);
    if (to == nullptr) return;
    std::map<std::string, Register> keys;
    const ContainerLog& log = body_.log_of(c);
    for (const LvSpan& span : spans_) {
        for (std::size_t i = log.find(span.begin);
             i < log.runs().size() && log.runs()[i].lv < span.end; ++i) {
            if (log.runs()[i].kind != RunKind::map_entry) continue;
            const OpContent& op = log.op(log.runs()[i]);
            const auto* set = std::get_if<MapSet>(&op);
            note(keys[set != nullptr ? set->key : std::get<MapErase>(op).key], log.runs()[i].lv);
        }
    }
    for (const auto& [key, taken] : keys) map_key(c, *to, key, taken);
}

void Reversal::map_key(Container& c, Container& to, const std::string& key, const Register& taken) {
    const MapState::Entry& entry = *c.map->find(key);
    // A copy does not have the keys that were gone when it was made.
    const MapState::Entry* now = to.map->find(key);
    const MapState::Write winner = (now != nullptr ? *now : entry).winner;
    if (!is_ours(taken, winner.lv)) {
        ++undone_.skipped;
        return;
    }
    const MapState::Write* back = before(entry, taken);
    const Lv made = body_.oplog().end();
    if (back == nullptr || back->erases) {
        const Lv stands_for = back == nullptr ? kNoLv : stand_ins_.settled_as(back->lv);
        if (winner.erases) {
            stand_ins_.settled[winner.lv] = stands_for;
            return;
        }
        body_.write_map(to, MapErase{key});
        if (stands_for != kNoLv) stand_ins_.atoms.add(stands_for, made, 1);
        ++undone_.removed;
        return;
    }
    const Lv stands_for = stand_ins_.settled_as(back->lv);
    const Lv from = back->lv;
    const Slot slot = *body_.slot_of(from);
    if (!winner.erases && std::holds_alternative<Value>(slot) &&
        *body_.slot_of(winner.lv) == slot) {
        stand_ins_.settled[winner.lv] = stands_for;
        return;
    }
    body_.write_map(to, MapSet{key, slot});
    stand_ins_.atoms.add(stands_for, made, 1);
    ++undone_.restored;
    copy_slot(slot, from, made);
}

const MapState::Write* Reversal::before(const MapState::Entry& entry, const Register& taken) const {
    const MapState::Write* best = nullptr;
    for (auto write = entry.writes.rbegin(); write != entry.writes.rend(); ++write) {
        if (best != nullptr && !best->loses_to(*write)) continue;
        if (stood_before(taken, write->lv)) best = &*write;
    }
    return best;
}

}  // namespace quire::crdt

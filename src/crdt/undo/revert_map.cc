// Maps: a key goes back to the write that decided before the spans, if what decides now is theirs.
// The new write stands for that one, so whoever takes back that one later finds it here. A key that
// somebody else has written since is left alone. O(writes to the key) for each key.
#include "crdt/undo/reversal.h"

namespace quire::crdt {

void Reversal::map(Container& c) {
    Container* to = living(c);
    if (to == nullptr) return;
    std::map<std::string, Register> keys;
    const ContainerLog& log = body_.log_of(c);
    for (const LvSpan& span : spans_) {
        for (const Run& run : log.runs_in(span)) {
            if (run.kind != RunKind::map_entry) continue;
            const OpContent& op = log.op(run);
            const auto* set = std::get_if<MapSet>(&op);
            note(keys[set != nullptr ? set->key : std::get<MapErase>(op).key], run.lv);
        }
    }
    for (const auto& [key, taken] : keys) map_key(c, *to, key, taken);
}

std::optional<MapState::Write> Reversal::winner(const Container& c, const std::string& key) const {
    if (const MapState::Entry* entry = c.map->find(key)) return entry->winner;
    return left_out(c, key);
}

// A copy of a map is made without the keys that were erased; the original still knows them.
std::optional<MapState::Write> Reversal::left_out(const Container& c,
                                                  const std::string& key) const {
    const OpLog& log = body_.oplog();
    for (auto at = stand_ins_.sources.find(c.index); at != stand_ins_.sources.end();
         at = stand_ins_.sources.find(at->second)) {
        const MapState::Entry* entry = body_.container(at->second).map->find(key);
        if (entry == nullptr) continue;
        const Heads known =
            log.graph().parents_of(*log.atoms().lv_of(body_.container(at->first).id.op()));
        std::optional<MapState::Write> best;
        for (const MapState::Write& write : entry->writes) {
            if ((!best || best->loses_to(write)) && log.graph().contains(known, write.lv))
                best = write;
        }
        if (best) return best;
    }
    return std::nullopt;
}

void Reversal::settle(Lv write, Lv as) {
    stand_ins_.settled[write] = as;
    const AtomTable& atoms = body_.oplog().atoms();
    undone_.settled.push_back(
        {atoms.id_of(as == kNoLv ? write : as), atoms.id_of(write), 1, StandIn::As::settled});
}

void Reversal::map_key(Container& c, Container& to, const std::string& key, Register taken) {
    const std::optional<MapState::Write> now = winner(to, key);
    std::optional<MapState::Write> back;
    bool decides = false;
    if (now && is_ours(taken, now->lv)) {
        taken.shown = now->lv;
        back = before(c, key, taken);
        decides = true;
    } else if (now && taken.takes_back) {
        back = taken_back(c, key, taken);
        decides = back && shows_older(taken, now->lv, back->lv);
    }
    if (!decides) {
        ++undone_.skipped;
        return;
    }
    const Lv stands_for = back ? stand_ins_.settled_as(back->lv) : kNoLv;
    const Lv made = body_.oplog().end();
    if (!back || back->erases) {
        // The key is gone already: there is nothing to write, but the erase says now what stood.
        if (now->erases) return settle(now->lv, stands_for);
        body_.write_map(to, MapErase{key});
        if (stands_for != kNoLv) {
            stand_ins_.atoms.add(stands_for, made, 1);
        } else {
            settle(made, kNoLv);
        }
        ++undone_.removed;
        return;
    }
    const Slot slot = *body_.slot_of(back->lv);
    // Both writes say the same, so the one that is there goes on for the other.
    if (!now->erases && std::holds_alternative<Value>(slot) && *body_.slot_of(now->lv) == slot)
        return settle(now->lv, stands_for);
    body_.write_map(to, MapSet{key, slot});
    stand_ins_.atoms.add(stands_for, made, 1);
    ++undone_.restored;
    copy_slot(slot, back->lv, made);
}

// The write that decided when the spans took writes back, and so the last one that they took back.
std::optional<MapState::Write> Reversal::taken_back(const Container& c, const std::string& key,
                                                    const Register& taken) const {
    const Graph& graph = body_.oplog().graph();
    const Heads known = graph.parents_of(taken.first);
    std::optional<MapState::Write> best;
    for (const MapState::Write& write : c.map->find(key)->writes) {
        if ((!best || best->loses_to(write)) && graph.contains(known, write.lv)) best = write;
    }
    return best;
}

std::optional<MapState::Write> Reversal::before(const Container& c, const std::string& key,
                                                const Register& taken) const {
    std::optional<MapState::Write> best;
    const MapState::Entry& entry = *c.map->find(key);
    for (auto write = entry.writes.rbegin(); write != entry.writes.rend(); ++write) {
        if (best && !best->loses_to(*write)) continue;
        if (stood_before(taken, write->lv)) best = *write;
    }
    return best ? best : left_out(c, key);
}

}  // namespace quire::crdt

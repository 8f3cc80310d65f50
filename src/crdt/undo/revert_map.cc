// Maps: each write to a key stands until somebody takes it back, and of those that stand the
// highest by (lamport, peer) shows. A revert brings each write that the spans touched to the state
// that it had before them. A key where somebody else's later write stands is left alone.
//
// No note says which writes stand. It follows from the key's ops, oldest first: a write of its own
// stands; an op of a revert, which stands for an older write, took back all that it knew above that
// one. So undo and redo of undo are told by the same few lines. O(w log w) for w writes to the key.
#include <algorithm>

#include "crdt/undo/reversal.h"

namespace quire::crdt {

void Reversal::map(Container& c) {
    Container* to = living(c);
    if (to == nullptr) return;
    std::set<std::string> keys;
    const ContainerLog& log = *c.log;
    for (const LvSpan& span : spans_) {
        for (const Run& run : log.runs_in(span)) {
            if (run.kind != RunKind::map_entry) continue;
            const OpContent& op = log.op(run);
            const auto* set = std::get_if<MapSet>(&op);
            keys.insert(set != nullptr ? set->key : std::get<MapErase>(op).key);
        }
    }
    for (const std::string& key : keys) map_key(*to, key);
}

// A copy of a map has the entries alone; the rest of a key's past is in what it was made of.
std::vector<MapState::Write> Reversal::ops_on(const Container& map, const std::string& key) const {
    const OpLog& log = body_.oplog();
    std::vector<MapState::Write> ops;
    std::optional<Heads> known;  // None: all of them.
    for (ContainerIndex at = map.index;;) {
        const Container& home = body_.container(at);
        if (const MapState::Entry* entry = home.as<MapBody>().state.find(key)) {
            const auto take = [&](const MapState::Write& op) {
                if (!known || log.graph().contains(*known, op.lv)) ops.push_back(op);
            };
            take(entry->winner);
            if (entry->others != nullptr)
                std::for_each(entry->others->begin(), entry->others->end(), take);
        }
        const auto source = stand_ins_.sources.find(at);
        if (source == stand_ins_.sources.end()) break;
        known = log.graph().parents_of(*log.atoms().lv_of(home.id.op()));
        at = source->second;
    }
    std::sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.lv < b.lv; });
    return ops;
}

// The write that an op shows: itself, or the one that it stands for; kNoLv for nothing.
Lv Reversal::write_shown_by(Lv op) const {
    const Lv as = stand_ins_.settled_as(op);
    return as == kNoLv ? kNoLv : stand_ins_.atoms.origin(as).lv;
}

Reversal::KeyPast Reversal::past_of(const Container& map, const std::string& key) const {
    const std::vector<MapState::Write> ops = ops_on(map, key);
    KeyPast past;
    for (const MapState::Write& op : ops) {
        if (write_shown_by(op.lv) == op.lv) past.writes.emplace(op.lv, op);
    }
    const Graph& graph = body_.oplog().graph();
    for (const MapState::Write& op : ops) {
        const bool is_ours = holds(op.lv).first;
        const auto shown = past.writes.find(write_shown_by(op.lv));
        const MapState::Write* write = shown == past.writes.end() ? nullptr : &shown->second;
        if (write == nullptr || write->lv != op.lv) {
            past.takes_back = past.takes_back || is_ours;
            const Heads known = graph.parents_of(op.lv);
            for (auto at = past.standing.end(); at != past.standing.begin();) {
                --at;
                if (write != nullptr && !write->loses_to(*at)) break;
                if (!graph.contains(known, at->lv)) continue;
                if (is_ours) past.stood_before.emplace(at->lv, true);
                at = past.standing.erase(at);
            }
        }
        if (write == nullptr || !past.standing.insert(*write).second) continue;
        if (is_ours) past.stood_before.emplace(write->lv, false);
    }
    return past;
}

// The op that decides the key; none when it was never written.
std::optional<MapState::Write> Reversal::winner(const Container& map,
                                                const std::string& key) const {
    if (const MapState::Entry* entry = map.as<MapBody>().state.find(key)) return entry->winner;
    std::optional<MapState::Write> last;
    for (const MapState::Write& op : ops_on(map, key)) {
        if (!last || last->loses_to(op)) last = op;
    }
    return last;
}

void Reversal::settle(Lv op, Lv as) {
    stand_ins_.settled[op] = as;
    const AtomTable& atoms = body_.oplog().atoms();
    undone_.settled.push_back(
        {atoms.id_of(as == kNoLv ? op : as), atoms.id_of(op), 1, StandIn::As::settled});
}

// Returns true if the key reads the same with either write; none stands for no entry.
bool Reversal::reads_the_same(const MapState::Write& now,
                              const std::optional<MapState::Write>& then) const {
    if (now.erases || !then || then->erases) return now.erases && (!then || then->erases);
    const Slot& slot = *body_.slot_of(then->lv);
    return std::holds_alternative<Value>(slot) && *body_.slot_of(now.lv) == slot;
}

void Reversal::map_key(Container& to, const std::string& key) {
    KeyPast past = past_of(to, key);
    const MapState::Write now = *winner(to, key);
    const Lv shown = write_shown_by(now.lv);
    bool decides = holds(now.lv).first || past.stood_before.contains(shown);
    for (const auto& [write, stood] : past.stood_before) {
        decides = decides || past.standing.empty() ||
                  !past.writes.at(write).loses_to(*past.standing.rbegin());
    }
    if (!decides) {
        ++undone_.skipped;
        return;
    }
    for (const auto& [write, stood] : past.stood_before) {
        if (stood) {
            past.standing.insert(past.writes.at(write));
        } else {
            past.standing.erase(past.writes.at(write));
        }
    }
    std::optional<MapState::Write> back;
    if (!past.standing.empty()) back = *past.standing.rbegin();
    const Lv stands_for = back ? back->lv : kNoLv;
    if (stands_for == shown) return;

    // The write that is there goes on for the one that comes back. But a redo is always an op:
    // without one it could not be undone.
    const bool is_same = reads_the_same(now, back);
    if (is_same && (!past.takes_back || options_.only_visible_writes))
        return settle(now.lv, stands_for);
    const Lv made = body_.oplog().end();
    const Lv last = back ? stand_ins_.atoms.newest(stands_for).lv : kNoLv;
    if (back) stand_ins_.atoms.add(stands_for, made, 1);
    if (!back || back->erases) {
        to.as<MapBody>().write({body_, to}, MapErase{key});
        if (!back) settle(made, kNoLv);
        if (!is_same) ++undone_.removed;
        return;
    }
    const Slot slot = *body_.slot_of(last);
    to.as<MapBody>().write({body_, to}, MapSet{key, slot});
    if (!is_same) ++undone_.restored;
    copy_slot(slot, last, made);
}

}  // namespace quire::crdt

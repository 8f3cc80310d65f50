// Lookups go through the opened units from the newest, which is where undo finds its own; a history
// is as long as a block has versions, so that is O(units) at worst. A unit is `done` until an undo
// makes it `undone`; a redo makes it `done` again, and a new change of its actor `gone`: from then
// on no redo brings it back.
#include "kernel/core/history.h"

#include <set>

#include "kernel/core/block_edits.h"

namespace quire::kernel {

std::vector<Unit>& History::opened() const {
    if (open_ == nullptr) {
        open_ = std::make_unique<std::vector<Unit>>(packed_.all());
        packed_ = {};
    }
    return *open_;
}

void History::pack() {
    if (open_ == nullptr) return;
    for (const Unit& unit : *open_) packed_.add(unit);
    packed_.end_growth();
    open_ = nullptr;
}

std::size_t History::memory_bytes() const {
    constexpr std::size_t kBeside = 64;  // Spans and heads.
    if (open_ != nullptr) return open_->capacity() * sizeof(Unit) + open_->size() * kBeside;
    return packed_.memory_bytes();
}

void History::add(Unit unit) {
    undone_ += unit.state == UnitState::undone ? 1 : 0;
    if (open_ != nullptr) {
        open_->push_back(std::move(unit));
    } else {
        packed_.add(unit);
    }
}

void History::set_state(Unit& unit, UnitState state) {
    undone_ -= unit.state == UnitState::undone ? 1 : 0;
    undone_ += state == UnitState::undone ? 1 : 0;
    unit.state = state;
}

std::vector<Unit*> History::with_group(Unit& unit) {
    std::vector<Unit*> all;
    for (Unit& other : opened()) {
        // A run of appends goes on when another actor's undo has taken it back, so one group may be
        // in two states. Only units of one state are a step together.
        const bool together =
            &other == &unit || (unit.group != 0 && other.group == unit.group &&
                                other.actor == unit.actor && other.state == unit.state);
        if (together) all.push_back(&other);
    }
    return all;
}

std::vector<Unit*> History::next_undo(const std::optional<std::string>& actor) {
    std::vector<Unit>& units = opened();
    for (std::size_t i = units.size(); i-- > 0;) {
        Unit& unit = units[i];
        if (unit.kind == UnitKind::take_back || unit.state != UnitState::done) continue;
        if (!actor || unit.actor == *actor) return with_group(unit);
    }
    return {};
}

std::vector<std::uint64_t> History::undoable(const UndoWhich& which) const {
    std::vector<std::uint64_t> out;
    std::set<std::pair<std::string, std::uint64_t>> groups;
    const std::vector<Unit>& units = opened();
    for (std::size_t i = units.size(); i-- > 0;) {
        const Unit& unit = units[i];
        // Units stand in the order of their versions, so the first that is too old ends the search.
        if (which.all_since && unit.at_ms < *which.all_since) break;
        const bool fits = unit.kind != UnitKind::take_back && unit.state == UnitState::done &&
                          selects(which, unit);
        if (!fits) continue;
        if (unit.group != 0 && !groups.emplace(unit.actor, unit.group).second) continue;
        out.push_back(unit.version);
        if (!which.all_since) break;
    }
    return out;
}

std::vector<Unit*> History::with_group_of(std::uint64_t version) {
    std::vector<Unit>& units = opened();
    for (std::size_t i = units.size(); i-- > 0;) {
        if (units[i].version == version) return with_group(units[i]);
    }
    return {};
}

// Undo goes from the newest back, so what was undone last is the oldest that is undone.
std::vector<Unit*> History::next_redo(const std::optional<std::string>& actor) {
    if (undone_ == 0) return {};
    for (Unit& unit : opened()) {
        if (unit.state == UnitState::undone && (!actor || unit.actor == *actor))
            return with_group(unit);
    }
    return {};
}

std::vector<Unit*> History::forget_redo(const std::string& actor) {
    std::vector<Unit*> changed;
    if (undone_ == 0) return changed;
    for (Unit& unit : opened()) {
        if (unit.state != UnitState::undone || unit.actor != actor) continue;
        set_state(unit, UnitState::gone);
        changed.push_back(&unit);
    }
    return changed;
}

}  // namespace quire::kernel

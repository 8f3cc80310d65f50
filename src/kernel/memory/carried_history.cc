// An imported history is another's word for what happened. Here it is held against the changes
// themselves: each entry must be of a kind that memory makes, by somebody, of a version that the
// changes lead to and no older than the one before, and about changes whose messages name no other
// actor. Otherwise an undo here could take back what somebody else wrote, or go to a version that
// never was. Not checked is who really wrote the changes: nothing in them proves it.

#include "kernel/memory/carried_history.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/concat.h"
#include "policy/actor.h"
#include "policy/attribution.h"

namespace quire::kernel {
namespace {

Failure wrong(const Unit& unit, std::string_view what) {
    return corrupt(cat("version ", unit.version, " of its history ", what));
}

// A change's beginning, and the facts that the checks need.
struct Known {
    crdt::Lamport lamport = 0;
    std::string actor = {};  // Whom its message names; "" for nobody.
};

// The changes by their first atoms; an atom is found in the last change that begins at or before
// it.
class Changes {
public:
    explicit Changes(const std::vector<crdt::Change>& changes) {
        for (const crdt::Change& each : changes) {
            const auto told = policy::parse_message(each.message);
            known_[each.id] = {each.lamport, told ? told->actor.str() : ""};
        }
    }
    // The lamport of a known atom.
    crdt::Lamport lamport_of(const crdt::OpId& id) const {
        const auto at = std::prev(known_.upper_bound(id));
        return at->second.lamport + static_cast<crdt::Lamport>(id.counter - at->first.counter);
    }
    // Returns true if another actor claims a part of this span of known atoms.
    bool is_anothers(const crdt::IdSpan& span, const std::string& actor) const {
        if (span.size() == 0) return false;
        auto at = std::prev(known_.upper_bound({span.peer, span.begin}));
        for (; at != known_.end() && at->first.peer == span.peer && at->first.counter < span.end;
             ++at) {
            const std::string& told = at->second.actor;
            if (!told.empty() && told != actor && !(is_system(told) && is_system(actor)))
                return true;
        }
        return false;
    }

private:
    // Earlier programs left out the system's name, so that "system:OP" may be of any system actor.
    static bool is_system(std::string_view actor) { return actor.starts_with("system:"); }

    std::map<crdt::OpId, Known> known_;
};

// The entries are checked in their order, because each is compared with those before it.
class Check {
public:
    Check(const std::vector<crdt::Change>& changes, const crdt::Doc& doc)
        : changes_(changes), version_(doc.version()) {}

    Result<Unit> entry(const store::UnitRecord& record) {
        Result<Unit> read = from_record(record);
        if (!read) {
            return corrupt(
                cat("version ", record.version, " of its history: ", read.error().message()));
        }
        Unit& unit = *read;
        if (to_record(unit, 0, "").state != record.state)
            return wrong(unit, "has a state that is none");
        const bool is_change = unit.kind == UnitKind::content || unit.kind == UnitKind::record;
        if (!is_change && unit.kind != UnitKind::take_back)
            return wrong(unit, "is of a kind that memory has not");
        if (!is_change && unit.state != UnitState::done)
            return wrong(unit, "cannot be undone and says that it was");
        if (!policy::Actor::parse(unit.actor)) return wrong(unit, "is nobody's");
        TRY(heads(unit));
        for (const auto* spans : {&unit.spans, &unit.kept}) {
            for (const crdt::IdSpan& span : *spans) TRY(changed(unit, span));
        }
        if (is_change) TRY(undone(unit));
        return read;
    }

private:
    // Versions are compared by the lamport of their newest atom, which never decreases along a
    // history.
    Result<void> heads(const Unit& unit) {
        if (!unit.heads) return {};
        crdt::Lamport newest = 0;
        for (const crdt::OpId& head : *unit.heads) {
            if (head.counter < 0 || !version_.includes(head))
                return wrong(unit, "is of a version that is not there");
            newest = std::max(newest, changes_.lamport_of(head) + 1);
        }
        if (newest < newest_)
            return wrong(unit, "is of a version that is older than the one before");
        newest_ = newest;
        return {};
    }

    Result<void> changed(const Unit& unit, const crdt::IdSpan& span) const {
        if (span.begin < 0 || span.end < span.begin || span.end > version_.end_of(span.peer))
            return wrong(unit, "is of changes that are not there");
        if (changes_.is_anothers(span, unit.actor))
            return wrong(unit, cat("is of changes that ", unit.actor, " did not make"));
        return {};
    }

    // A write ends its writer's chance to redo, so nothing that is done comes after what is undone.
    Result<void> undone(const Unit& unit) {
        if (unit.state == UnitState::undone) undone_.insert(unit.actor);
        if (unit.state == UnitState::done && undone_.contains(unit.actor))
            return wrong(unit, "is done, and what its writer did before is undone");
        return {};
    }

    const Changes changes_;
    const crdt::VersionVector version_;
    crdt::Lamport newest_ = 0;  // One more than that of the last version's newest atom.
    std::set<std::string> undone_;
};

}  // namespace

Result<std::vector<Unit>> check_history(const std::vector<store::UnitRecord>& entries,
                                        const std::vector<crdt::Change>& changes,
                                        const crdt::Doc& doc) {
    Check check(changes, doc);
    std::vector<Unit> units;
    for (const store::UnitRecord& each : entries) units.push_back(TRY(check.entry(each)));
    const bool leads_on =
        !units.empty() && units.back().heads && *units.back().heads != doc.frontiers();
    if (leads_on) return corrupt("it has changes that no entry of its history is of");
    return units;
}

}  // namespace quire::kernel

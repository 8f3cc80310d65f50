#include "kernel/carried_history.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "base/cat.h"
#include "document/attribution.h"
#include "policy/actor.h"

namespace quire::kernel {
namespace {

Failure wrong(const Unit& unit, std::string_view what) {
    return corrupt(cat("version ", unit.version, " of its history ", what));
}

// Where a change begins, and what is asked of it.
struct Known {
    crdt::Lamport lamport = 0;
    std::string actor = {};  // Whom its message names; "" for nobody.
};

class Changes {
public:
    explicit Changes(const std::vector<crdt::Change>& changes) {
        for (const crdt::Change& each : changes) {
            const auto told = document::parse_message(each.message);
            known_[each.id] = {each.lamport, told ? told->actor.str() : ""};
        }
    }
    // Of an atom that is there.
    crdt::Lamport lamport_of(const crdt::OpId& id) const {
        const auto at = std::prev(known_.upper_bound(id));
        return at->second.lamport + static_cast<crdt::Lamport>(id.counter - at->first.counter);
    }
    // Of a span that is there: whether somebody else says to have made a part of it.
    bool is_anothers(const crdt::IdSpan& span, const std::string& actor) const {
        if (span.size() == 0) return false;
        auto at = std::prev(known_.upper_bound({span.peer, span.begin}));
        for (; at != known_.end() && at->first.peer == span.peer && at->first.counter < span.end;
             ++at) {
            if (!at->second.actor.empty() && at->second.actor != actor) return true;
        }
        return false;
    }

private:
    std::map<crdt::OpId, Known> known_;
};

// What stands for what, after undos: of the same content, and in the same container or in what came
// back of it. The engine takes its teller's word for that, and ends where it is not so.
class StandIns {
public:
    explicit StandIns(const std::vector<crdt::Change>& changes) {
        for (const crdt::Change& each : changes) {
            for (const crdt::Op& op : each.ops)
                ops_[{each.id.peer, op.counter}] = {&op, crdt::atom_count(op.content)};
        }
    }

    // A container that came back goes on in another one.
    void note(const crdt::StandIn& one) {
        const auto from = child_of(one.of);
        const auto to = child_of(one.copy);
        if (one.as == As::child && from && to) sources_[*to] = *from;
    }

    bool fits(const crdt::StandIn& one) const {
        switch (one.as) {
            case As::atom:
            case As::place:
            case As::child:
            case As::settled:
                break;
            case As::value:
            case As::slot:
            case As::style:
                return false;  // Memory has nothing that these are of.
        }
        const auto reaches = [&](const crdt::OpId& id) {
            return id.counter >= 0 && one.length <= INT32_MAX - id.counter;
        };
        if (one.length <= 0 || !reaches(one.of) || !reaches(one.copy)) return false;
        for (crdt::Counter at = 0; at < one.length;) {
            const auto of = part_at({one.of.peer, one.of.counter + at});
            const auto copy = part_at({one.copy.peer, one.copy.counter + at});
            if (!of || !copy) return false;
            const crdt::Counter size = std::min({of->size, copy->size, one.length - at});
            if (source_of(of->op->container) != source_of(copy->op->container) ||
                !same(*of, *copy, size))
                return false;
            at += size;
        }
        return true;
    }

private:
    using As = crdt::StandIn::As;

    struct Whole {
        const crdt::Op* op = nullptr;
        crdt::Counter size = 0;
    };
    struct Part {
        const crdt::Op* op;
        std::size_t from;  // Atoms of it that stand before.
        crdt::Counter size;
    };
    std::optional<Part> part_at(const crdt::OpId& id) const {
        auto at = ops_.upper_bound(id);
        if (at == ops_.begin() || (--at)->first.peer != id.peer) return std::nullopt;
        const crdt::Counter from = id.counter - at->first.counter;
        const crdt::Counter size = at->second.size - from;
        if (size <= 0) return std::nullopt;
        return Part{at->second.op, static_cast<std::size_t>(from), size};
    }

    std::optional<crdt::ContainerId> child_of(const crdt::OpId& id) const {
        const auto part = part_at(id);
        if (!part) return std::nullopt;
        const crdt::Slot* slot = nullptr;
        if (const auto* set = std::get_if<crdt::MapSet>(&part->op->content)) slot = &set->value;
        if (const auto* list = std::get_if<crdt::ListInsert>(&part->op->content))
            slot = &list->values[part->from];
        const auto* kind = slot == nullptr ? nullptr : std::get_if<crdt::ContainerKind>(slot);
        if (kind == nullptr) return std::nullopt;
        return crdt::ContainerId::normal(id, *kind);
    }
    const crdt::ContainerId& source_of(const crdt::ContainerId& container) const {
        const crdt::ContainerId* id = &container;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const auto source = sources_.find(*id);
            if (source == sources_.end()) break;
            id = &source->second;
        }
        return *id;
    }

    // Wherever it was put. Letters are taken for each other.
    static bool same(const Part& a, const Part& b, crdt::Counter size) {
        const crdt::OpContent& here = a.op->content;
        const crdt::OpContent& there = b.op->content;
        if (std::holds_alternative<crdt::TextInsert>(here))
            return std::holds_alternative<crdt::TextInsert>(there);
        if (const auto* list = std::get_if<crdt::ListInsert>(&here)) {
            const auto* other = std::get_if<crdt::ListInsert>(&there);
            if (other == nullptr) return false;
            const auto begin = list->values.begin() + static_cast<std::ptrdiff_t>(a.from);
            return std::equal(begin, begin + size,
                              other->values.begin() + static_cast<std::ptrdiff_t>(b.from));
        }
        const bool is_entry = std::holds_alternative<crdt::MapSet>(here) ||
                              std::holds_alternative<crdt::MapErase>(here);
        return is_entry && here == there;
    }

    std::map<crdt::OpId, Whole> ops_;  // By their first atoms.
    std::map<crdt::ContainerId, crdt::ContainerId> sources_;
};

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
        const bool is_change = unit.kind == UnitKind::content;
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
    StandIns stand_ins(changes);
    std::vector<Unit> units;
    for (const store::UnitRecord& each : entries) {
        units.push_back(TRY(check.entry(each)));
        for (const crdt::StandIn& one : units.back().stand_ins) stand_ins.note(one);
    }
    for (const Unit& unit : units) {
        const auto fits = [&](const crdt::StandIn& one) { return stand_ins.fits(one); };
        if (!std::all_of(unit.stand_ins.begin(), unit.stand_ins.end(), fits))
            return wrong(unit, "says that something stands for what it is not");
    }
    const bool leads_on =
        !units.empty() && units.back().heads && *units.back().heads != doc.frontiers();
    if (leads_on) return corrupt("it has changes that no entry of its history is of");
    return units;
}

}  // namespace quire::kernel

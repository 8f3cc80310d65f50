#include "kernel/unit.h"

#include <algorithm>

namespace quire::kernel {

namespace {

constexpr std::uint8_t kBodyFormat = 5;

void put(Bytes& out, std::uint64_t number, int size) {
    for (int i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

std::uint64_t get(const Bytes& in, std::size_t& at, int size) {
    std::uint64_t number = 0;
    for (int i = 0; i < size; ++i)
        number |= std::uint64_t{in[at + static_cast<std::size_t>(i)]} << (8 * i);
    at += static_cast<std::size_t>(size);
    return number;
}

constexpr std::size_t kHeadSize = 2 + 8;
constexpr std::uint64_t kStatuses = static_cast<std::uint64_t>(blocks::Status::error) + 1;
constexpr std::size_t kSpanSize = 8 + 4 + 4;
constexpr std::size_t kStandInSize = 1 + 8 + 4 + 8 + 4 + 4;
constexpr std::size_t kHeadIdSize = 8 + 4;
constexpr std::uint64_t kNoHeads = 0xFFFFFFFF;

void put_spans(Bytes& out, const std::vector<crdt::IdSpan>& spans) {
    put(out, spans.size(), 4);
    for (const crdt::IdSpan& span : spans) {
        put(out, span.peer, 8);
        put(out, static_cast<std::uint32_t>(span.begin), 4);
        put(out, static_cast<std::uint32_t>(span.end), 4);
    }
}

// False where there are fewer.
bool get_spans(const Bytes& in, std::size_t& at, std::size_t count,
               std::vector<crdt::IdSpan>& spans) {
    if (count > (in.size() - at) / kSpanSize) return false;
    for (; count > 0; --count) {
        crdt::IdSpan span;
        span.peer = get(in, at, 8);
        span.begin = static_cast<crdt::Counter>(get(in, at, 4));
        span.end = static_cast<crdt::Counter>(get(in, at, 4));
        spans.push_back(span);
    }
    return true;
}

std::string_view name_of(UnitState state) {
    switch (state) {
        case UnitState::done:
            return "done";
        case UnitState::undone:
            return "undone";
        case UnitState::gone:
            return "gone";
    }
    return "gone";
}

}  // namespace

// Little-endian: format, kind, group u64, the status before and after u8 each (one more than the
// word's number; 0 for none), number of heads u32 (all ones for none known), per head peer u64,
// counter u32; number of spans u32, then per span peer u64, begin u32, end u32; the same of what is
// kept; then per stand-in as what (crdt::StandIn::As) u8, first atom peer u64, counter u32, of the
// copy the same, length u32. Format 4 kept nothing, format 3 had no heads either, format 2 no
// statuses, format 1 neither the number of spans nor stand-ins.
store::UnitRecord to_record(const Unit& unit, store::DocumentKey document,
                            const std::string& block) {
    Bytes body;
    put(body, kBodyFormat, 1);
    put(body, static_cast<std::uint64_t>(unit.kind), 1);
    put(body, unit.group, 8);
    put(body, unit.status ? static_cast<std::uint64_t>(unit.status->from) + 1 : 0, 1);
    put(body, unit.status ? static_cast<std::uint64_t>(unit.status->to) + 1 : 0, 1);
    put(body, unit.heads ? unit.heads->size() : kNoHeads, 4);
    for (const crdt::OpId& head : unit.heads.value_or(crdt::Frontiers())) {
        put(body, head.peer, 8);
        put(body, static_cast<std::uint32_t>(head.counter), 4);
    }
    put_spans(body, unit.spans);
    put_spans(body, unit.kept);
    for (const crdt::StandIn& stand_in : unit.stand_ins) {
        put(body, static_cast<std::uint64_t>(stand_in.as), 1);
        for (const crdt::OpId& id : {stand_in.of, stand_in.copy}) {
            put(body, id.peer, 8);
            put(body, static_cast<std::uint32_t>(id.counter), 4);
        }
        put(body, static_cast<std::uint32_t>(stand_in.length), 4);
    }
    return {document,
            block,
            unit.version,
            unit.actor,
            unit.at_ms,
            unit.description,
            std::string(name_of(unit.state)),
            std::move(body)};
}

Result<Unit> from_record(const store::UnitRecord& record) {
    const Bytes& body = record.body;
    const auto damaged = [] { return corrupt("a history entry in the store is damaged"); };
    if (body.size() < kHeadSize || body[0] < 1 || body[0] > kBodyFormat ||
        body[1] > static_cast<std::uint8_t>(UnitKind::take_back)) {
        return damaged();
    }
    Unit unit{record.version,
              record.actor,
              record.at_ms,
              record.description,
              {},
              UnitState::gone,
              0,
              {},
              {},
              {},
              {},
              {}};
    for (const UnitState state : {UnitState::done, UnitState::undone}) {
        if (record.state == name_of(state)) unit.state = state;
    }
    std::size_t at = 1;
    unit.kind = static_cast<UnitKind>(get(body, at, 1));
    unit.group = get(body, at, 8);
    if (body[0] > 2) {
        if (body.size() - at < 2) return damaged();
        const std::uint64_t from = get(body, at, 1);
        const std::uint64_t to = get(body, at, 1);
        if (from > kStatuses || to > kStatuses) return damaged();
        if (from > 0 && to > 0) {
            unit.status = {static_cast<blocks::Status>(from - 1),
                           static_cast<blocks::Status>(to - 1)};
        }
    }
    if (body[0] > 3) {
        if (body.size() - at < 4) return damaged();
        std::uint64_t heads = get(body, at, 4);
        if (heads != kNoHeads) {
            if (heads > (body.size() - at) / kHeadIdSize) return damaged();
            unit.heads.emplace();
            for (; heads > 0; --heads) {
                crdt::OpId head;
                head.peer = get(body, at, 8);
                head.counter = static_cast<crdt::Counter>(get(body, at, 4));
                unit.heads->push_back(head);
            }
        }
    }
    std::size_t spans = (body.size() - at) / kSpanSize;
    if (body[0] > 1) {
        if (body.size() - at < 4) return damaged();
        spans = get(body, at, 4);
    }
    if (!get_spans(body, at, spans, unit.spans)) return damaged();
    if (body[0] > 4) {
        if (body.size() - at < 4) return damaged();
        const std::size_t kept = get(body, at, 4);
        if (!get_spans(body, at, kept, unit.kept)) return damaged();
    }
    if ((body.size() - at) % kStandInSize != 0) return damaged();
    while (at < body.size()) {
        crdt::StandIn stand_in;
        const std::uint64_t as = get(body, at, 1);
        if (as > static_cast<std::uint64_t>(crdt::StandIn::As::settled)) return damaged();
        stand_in.as = static_cast<crdt::StandIn::As>(as);
        for (crdt::OpId* id : {&stand_in.of, &stand_in.copy}) {
            id->peer = get(body, at, 8);
            id->counter = static_cast<crdt::Counter>(get(body, at, 4));
        }
        stand_in.length = static_cast<crdt::Counter>(get(body, at, 4));
        unit.stand_ins.push_back(stand_in);
    }
    return unit;
}

void History::add(Unit unit) {
    undone_ += unit.state == UnitState::undone ? 1 : 0;
    units_.push_back(std::move(unit));
}

void History::set_state(Unit& unit, UnitState state) {
    undone_ -= unit.state == UnitState::undone ? 1 : 0;
    undone_ += state == UnitState::undone ? 1 : 0;
    unit.state = state;
}

std::vector<Unit*> History::with_group(Unit& unit) {
    std::vector<Unit*> all;
    for (Unit& other : units_) {
        const bool together =
            &other == &unit || (unit.group != 0 && other.group == unit.group &&
                                other.actor == unit.actor && other.state == unit.state);
        if (together) all.push_back(&other);
    }
    return all;
}

std::vector<Unit*> History::next_undo(const std::optional<std::string>& actor) {
    for (std::size_t i = units_.size(); i-- > 0;) {
        Unit& unit = units_[i];
        if (unit.kind == UnitKind::take_back || unit.state != UnitState::done) continue;
        if (!actor || unit.actor == *actor) return with_group(unit);
    }
    return {};
}

// Undo goes from the newest back, so what was undone last is the oldest that is undone.
std::vector<Unit*> History::next_redo(const std::optional<std::string>& actor) {
    if (undone_ == 0) return {};
    for (Unit& unit : units_) {
        if (unit.state == UnitState::undone && (!actor || unit.actor == *actor))
            return with_group(unit);
    }
    return {};
}

std::vector<Unit*> History::forget_redo(const std::string& actor) {
    std::vector<Unit*> changed;
    if (undone_ == 0) return changed;
    for (Unit& unit : units_) {
        if (unit.state != UnitState::undone || unit.actor != actor) continue;
        set_state(unit, UnitState::gone);
        changed.push_back(&unit);
    }
    return changed;
}

std::vector<Unit*> History::forget_all() {
    std::vector<Unit*> changed;
    for (Unit& unit : units_) {
        if (unit.state == UnitState::gone || unit.kind == UnitKind::take_back) continue;
        set_state(unit, UnitState::gone);
        changed.push_back(&unit);
    }
    return changed;
}

}  // namespace quire::kernel

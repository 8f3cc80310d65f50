// Units of undo, as the store keeps them: a number for the form, then the fields in bytes. Older
// forms are read for ever. Spans make up most of a unit: some ten bytes for an edit.
#include "kernel/core/unit.h"

#include <algorithm>
#include <span>

#include "base/bytes.h"
#include "kernel/core/block_edits.h"
#include "kernel/core/kinds.h"

namespace quire::kernel {

namespace {

constexpr std::uint8_t kBodyFormat = 6;

constexpr std::uint8_t kStatuses = static_cast<std::uint8_t>(conversation::Status::error) + 1;
constexpr std::size_t kSpanSize = 8 + 4 + 4;
constexpr std::uint32_t kNoHeads = 0xFFFFFFFF;

void write_counter(ByteWriter& out, crdt::Counter counter) {
    out.u32_le(static_cast<std::uint32_t>(counter));
}
crdt::Counter read_counter(ByteReader& in) {
    return static_cast<crdt::Counter>(in.u32_le("counter"));
}

void write_id(ByteWriter& out, const crdt::OpId& id) {
    out.u64_le(id.peer);
    write_counter(out, id.counter);
}
crdt::OpId read_id(ByteReader& in) {
    const crdt::PeerId peer = in.u64_le("peer");
    return {peer, read_counter(in)};
}

void write_spans(ByteWriter& out, const std::vector<crdt::IdSpan>& spans) {
    out.u32_le(static_cast<std::uint32_t>(spans.size()));
    for (const crdt::IdSpan& span : spans) {
        write_id(out, {span.peer, span.begin});
        write_counter(out, span.end);
    }
}
// A count from a damaged record may be huge: it ends with the bytes that there are, and reserves
// nothing.
std::vector<crdt::IdSpan> read_spans(ByteReader& in, std::size_t count) {
    std::vector<crdt::IdSpan> spans;
    for (; count > 0 && in.ok(); --count) {
        const crdt::OpId first = read_id(in);
        spans.push_back({first.peer, first.counter, read_counter(in)});
    }
    return spans;
}

void write_status(ByteWriter& out, const Unit& unit) {
    const auto number = [](conversation::Status status) {
        return static_cast<std::uint8_t>(static_cast<std::uint8_t>(status) + 1);
    };
    out.byte(unit.status ? number(unit.status->from) : 0);
    out.byte(unit.status ? number(unit.status->to) : 0);
}
void read_status(ByteReader& in, Unit& unit) {
    const std::uint8_t from = in.byte("status before");
    const std::uint8_t to = in.byte("status after");
    if (from > kStatuses || to > kStatuses) return in.fail("status");
    if (from == 0 || to == 0) return;
    unit.status = {static_cast<conversation::Status>(from - 1),
                   static_cast<conversation::Status>(to - 1)};
}

void write_heads(ByteWriter& out, const Unit& unit) {
    out.u32_le(unit.heads ? static_cast<std::uint32_t>(unit.heads->size()) : kNoHeads);
    for (const crdt::OpId& head : unit.heads.value_or(crdt::Frontiers())) write_id(out, head);
}
void read_heads(ByteReader& in, Unit& unit) {
    std::uint32_t count = in.u32_le("number of heads");
    if (count == kNoHeads) return;
    unit.heads.emplace();
    for (; count > 0 && in.ok(); --count) unit.heads->push_back(read_id(in));
}

void write_bytes(ByteWriter& out, std::span<const std::uint8_t> bytes) {
    out.u32_le(static_cast<std::uint32_t>(bytes.size()));
    out.append(bytes);
}
Bytes read_bytes(ByteReader& in, const char* what) {
    const std::span<const std::uint8_t> bytes = in.take(in.u32_le(what), what);
    return {bytes.begin(), bytes.end()};
}

void write_record(ByteWriter& out, const Unit& unit) {
    out.byte(unit.record ? 1 : 0);
    if (!unit.record) return;
    for (const RecordState* state : {&unit.record->before, &unit.record->after}) {
        write_bytes(out, as_bytes(state->name));
        out.byte(state->deleted ? 1 : 0);
        write_bytes(out, state->header);
    }
    out.u64_le(static_cast<std::uint64_t>(unit.record->partner));
}
void read_record(ByteReader& in, Unit& unit) {
    if (in.byte("record") == 0) return;
    RecordChange change;
    for (RecordState* state : {&change.before, &change.after}) {
        state->name = std::string(as_text(read_bytes(in, "name")));
        state->deleted = in.byte("deleted") != 0;
        state->header = read_bytes(in, "header");
    }
    change.partner = static_cast<store::DocumentKey>(in.u64_le("partner"));
    unit.record = std::make_shared<const RecordChange>(std::move(change));
}

void write_stand_in(ByteWriter& out, const crdt::StandIn& stand_in) {
    out.byte(static_cast<std::uint8_t>(stand_in.as));
    write_id(out, stand_in.of);
    write_id(out, stand_in.copy);
    write_counter(out, stand_in.length);
}
crdt::StandIn read_stand_in(ByteReader& in) {
    const std::uint8_t as = in.byte("stand-in");
    if (as > static_cast<std::uint8_t>(crdt::StandIn::As::settled)) in.fail("stand-in");
    crdt::StandIn stand_in;
    stand_in.as = static_cast<crdt::StandIn::As>(as);
    stand_in.of = read_id(in);
    stand_in.copy = read_id(in);
    stand_in.length = read_counter(in);
    return stand_in;
}

}  // namespace

bool Unit::deletes_file() const {
    return kind == UnitKind::take_back && description == kFileDeleted;
}

// The body of a record, little-endian; a number before a list is how many follow:
//
//   format     u8       kBodyFormat
//   kind       u8       UnitKind
//   group      u64
//   status     u8 u8    before and after: one more than the word's number, 0 for none
//   heads      u32      then for each peer u64, counter u32; all ones where none are known
//   spans      u32      then for each peer u64, begin u32, end u32
//   kept       u32      the same
//   record     u8       1 if it changed: then, of the record before and of that after, the name
//                       (size u32 first), deleted u8, the header (size u32 first); then partner u64
//   stand-ins           up to the end: as what (crdt::StandIn::As) u8, the first atom peer u64,
//                       counter u32, that of the copy the same, length u32
//
// Format 5 had no record, format 4 kept nothing either, format 3 had no heads, format 2 no
// statuses, format 1 neither the number of spans nor stand-ins.
store::UnitRecord to_record(const Unit& unit, store::DocumentKey document, std::string_view block) {
    ByteWriter body;
    body.byte(kBodyFormat);
    body.byte(static_cast<std::uint8_t>(unit.kind));
    body.u64_le(unit.group);
    write_status(body, unit);
    write_heads(body, unit);
    write_spans(body, unit.spans);
    write_spans(body, unit.kept);
    write_record(body, unit);
    for (const crdt::StandIn& stand_in : unit.stand_ins) write_stand_in(body, stand_in);
    return {document,
            std::string(block),
            unit.version,
            unit.actor,
            unit.at_ms,
            unit.description,
            std::string(name_of(unit.state)),
            std::move(body).take()};
}

Result<Unit> from_record(const store::UnitRecord& record) {
    Unit unit;
    unit.version = record.version;
    unit.actor = record.actor;
    unit.at_ms = record.at_ms;
    unit.description = record.description;
    // A state that this program does not know is one that no undo and no redo touches.
    unit.state = enum_named<UnitState>(record.state).value_or(UnitState::gone);

    ByteReader in(record.body);
    const std::uint8_t format = in.byte("format");
    if (format < 1 || format > kBodyFormat) in.fail("format");
    const std::uint8_t kind = in.byte("kind");
    if (kind > static_cast<std::uint8_t>(UnitKind::record)) in.fail("kind");
    unit.kind = static_cast<UnitKind>(kind);
    unit.group = in.u64_le("group");
    if (format > 2) read_status(in, unit);
    if (format > 3) read_heads(in, unit);
    if (format == 1 && in.remaining() % kSpanSize != 0) in.fail("spans");
    unit.spans =
        read_spans(in, format > 1 ? in.u32_le("number of spans") : in.remaining() / kSpanSize);
    if (format > 4) unit.kept = read_spans(in, in.u32_le("number of spans kept"));
    if (format > 5) read_record(in, unit);
    while (in.ok() && !in.at_end()) unit.stand_ins.push_back(read_stand_in(in));
    if (!in.ok()) return Failure(Error(in.error().value()).within("a history entry in the store"));
    return unit;
}

bool selects(const UndoWhich& which, const Unit& unit) {
    return (!which.actor || unit.actor == *which.actor) &&
           (!which.all_since || unit.at_ms >= *which.all_since) &&
           (!which.version || unit.version == *which.version);
}

}  // namespace quire::kernel

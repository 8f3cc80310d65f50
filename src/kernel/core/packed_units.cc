// The bytes of a PackedUnits. A unit is
//
//     flags   u8      Flag, below
//     actor   sized   unless it is the one before's
//     what    sized   the description, unless it is the one before's
//     kind, state     u8 each, unless it is content that is done
//     status  u8 u8   before and after, if the flag says so
//     version uleb    the distance from the one before
//     time    zigzag  the distance
//     group   uleb    unless it is the one before's
//     peer    u64     unless it is the one before's
//     begin   zigzag  the distance from the end of the one before's span
//     length  uleb    of the span
//
// or, with the flag kWhole, the fields of its record (to_record()) in a row.

#include <string>
#include <utility>

#include "base/check.h"
#include "base/varint.h"
#include "kernel/core/history.h"

namespace quire::kernel {
namespace {

constexpr std::uint32_t kInARow = 16;

enum Flag : std::uint8_t {
    kWhole = 1,
    kSameActor = 2,
    kSameDescription = 4,
    kSameGroup = 8,
    kSamePeer = 16,
    kPlain = 32,  // Content that is done.
    kHasStatus = 64,
    kHasHeads = 128,
};

// Returns true for a unit that the short form can say.
bool is_short(const Unit& unit) {
    if (!unit.kept.empty() || !unit.stand_ins.empty() || unit.record) return false;
    if (unit.spans.size() != 1 || unit.spans[0].size() < 0) return false;
    const crdt::IdSpan& span = unit.spans[0];
    return !unit.heads ||
           (unit.heads->size() == 1 && unit.heads->front() == crdt::OpId{span.peer, span.end - 1});
}

// The span that the next unit is told from.
crdt::IdSpan last_span(const Unit& unit) {
    return unit.spans.empty() ? crdt::IdSpan() : unit.spans.back();
}

void write_whole(ByteWriter& out, const Unit& unit) {
    const store::UnitRecord record = to_record(unit, 0, "");
    out.byte(kWhole);
    write_sized(out, record.actor);
    write_sized(out, record.description);
    write_sized(out, record.state);
    write_uleb(out, record.version);
    write_zigzag(out, record.at_ms);
    write_sized(out, record.body);
}

std::string read_text(ByteReader& in, const char* what) {
    return std::string(as_text(read_sized(in, what)));
}

Unit read_whole(ByteReader& in) {
    store::UnitRecord record;
    record.actor = read_text(in, "actor");
    record.description = read_text(in, "description");
    record.state = read_text(in, "state");
    record.version = read_uleb(in, "version");
    record.at_ms = read_zigzag(in, "time");
    const std::span<const std::uint8_t> body = read_sized(in, "body");
    record.body.assign(body.begin(), body.end());
    Result<Unit> unit = from_record(record);
    CHECK(unit.has_value());
    return std::move(*unit);
}

// `before` is the unit before, or one without fields for a unit that stands alone.
void write_unit(ByteWriter& out, const Unit& unit, const Unit& before) {
    if (!is_short(unit)) return write_whole(out, unit);
    const crdt::IdSpan& span = unit.spans[0];
    const crdt::IdSpan from = last_span(before);
    unsigned flags = 0;
    if (unit.actor == before.actor) flags |= kSameActor;
    if (unit.description == before.description) flags |= kSameDescription;
    if (unit.group == before.group) flags |= kSameGroup;
    if (span.peer == from.peer) flags |= kSamePeer;
    if (unit.kind == UnitKind::content && unit.state == UnitState::done) flags |= kPlain;
    if (unit.status) flags |= kHasStatus;
    if (unit.heads) flags |= kHasHeads;
    out.byte(static_cast<std::uint8_t>(flags));
    if ((flags & kSameActor) == 0) write_sized(out, unit.actor);
    if ((flags & kSameDescription) == 0) write_sized(out, unit.description);
    if ((flags & kPlain) == 0) {
        out.byte(static_cast<std::uint8_t>(unit.kind));
        out.byte(static_cast<std::uint8_t>(unit.state));
    }
    if (unit.status) {
        out.byte(static_cast<std::uint8_t>(unit.status->from));
        out.byte(static_cast<std::uint8_t>(unit.status->to));
    }
    write_uleb(out, unit.version - before.version);
    write_zigzag(out, unit.at_ms - before.at_ms);
    if ((flags & kSameGroup) == 0) write_uleb(out, unit.group);
    if ((flags & kSamePeer) == 0) out.u64_le(span.peer);
    write_zigzag(out, std::int64_t{span.begin} - from.end);
    write_uleb(out, static_cast<std::uint64_t>(span.size()));
}

Unit read_unit(ByteReader& in, const Unit& before) {
    const std::uint8_t flags = in.byte("flags");
    if ((flags & kWhole) != 0) return read_whole(in);
    const crdt::IdSpan from = last_span(before);
    Unit unit;
    unit.actor = (flags & kSameActor) != 0 ? before.actor : read_text(in, "actor");
    unit.description =
        (flags & kSameDescription) != 0 ? before.description : read_text(in, "description");
    if ((flags & kPlain) == 0) {
        unit.kind = static_cast<UnitKind>(in.byte("kind"));
        unit.state = static_cast<UnitState>(in.byte("state"));
    }
    if ((flags & kHasStatus) != 0) {
        const auto status_from = static_cast<conversation::Status>(in.byte("status before"));
        unit.status = {status_from, static_cast<conversation::Status>(in.byte("status after"))};
    }
    unit.version = before.version + read_uleb(in, "version");
    unit.at_ms = before.at_ms + read_zigzag(in, "time");
    unit.group = (flags & kSameGroup) != 0 ? before.group : read_uleb(in, "group");
    crdt::IdSpan span;
    span.peer = (flags & kSamePeer) != 0 ? from.peer : in.u64_le("peer");
    span.begin = static_cast<crdt::Counter>(from.end + read_zigzag(in, "begin"));
    span.end = span.begin + static_cast<crdt::Counter>(read_uleb(in, "length"));
    unit.spans = {span};
    if ((flags & kHasHeads) != 0) unit.heads = {{span.peer, span.end - 1}};
    return unit;
}

// Reads `count` units, the first of which stands alone.
template <class Take>
void for_each(std::span<const std::uint8_t> bytes, std::uint32_t count, Take take) {
    ByteReader in(bytes);
    Unit before;
    for (std::uint32_t i = 0; i < count; ++i) {
        Unit unit = read_unit(in, i % kInARow == 0 ? Unit() : before);
        before = unit;
        take(std::move(unit));
    }
    CHECK(in.ok() && in.at_end());
}

}  // namespace

void PackedUnits::add(const Unit& unit) {
    Unit before;
    if (count_ % kInARow == 0) {
        alone_ = static_cast<std::uint32_t>(bytes_.size());
    } else {
        for_each(std::span(bytes_).subspan(alone_), count_ % kInARow,
                 [&](Unit&& read) { before = std::move(read); });
    }
    ByteWriter out;
    write_unit(out, unit, before);
    const std::span<const std::uint8_t> made = out.bytes();
    // Most histories have a few units, which are not worth a reserve.
    if (count_ < kInARow) bytes_.reserve(bytes_.size() + made.size());
    bytes_.insert(bytes_.end(), made.begin(), made.end());
    ++count_;
}

std::vector<Unit> PackedUnits::all() const {
    std::vector<Unit> out;
    out.reserve(count_);
    for_each(bytes_, count_, [&](Unit&& unit) { out.push_back(std::move(unit)); });
    return out;
}

}  // namespace quire::kernel

// A change of the record is undone member by member. Only members that the call changed are set
// back, and only if they still have the value that the call gave them; one that has not makes the
// whole undo impossible. Shares, description and permission are never set back here, since no step
// of undo changes them.

#include "kernel/memory/memory_record.h"

#include <algorithm>
#include <utility>

namespace quire::kernel {
namespace {

// The word under which an earlier program recorded a conversion, without its schemas.
constexpr std::string_view kConversion = "convert";

// Sets one member back to what it was. False where it is no longer what the change made of it.
template <class Member>
bool set_member_back(Member& now, const Member& from, const Member& to) {
    if (from == to) return true;
    if (now != from) return false;
    now = to;
    return true;
}

// The header with the members set back that differ between `from` and `to`; nothing where one of
// them has changed since. Errors: corrupt.
Result<std::optional<Bytes>> header_set_back(const store::DocumentRecord& record,
                                             const RecordState& from, const RecordState& to) {
    if (from.header == to.header) return record.header;
    MemoryHeader now = TRY(decode_memory_header(record.name, record.header));
    const MemoryHeader was = TRY(decode_memory_header(from.name, from.header));
    const MemoryHeader wanted = TRY(decode_memory_header(to.name, to.header));
    const bool same = set_member_back(now.type, was.type, wanted.type) &&
                      set_member_back(now.pinned, was.pinned, wanted.pinned) &&
                      set_member_back(now.former_label, was.former_label, wanted.former_label) &&
                      set_member_back(now.block.schema, was.block.schema, wanted.block.schema);
    if (!same) return std::optional<Bytes>();
    return encode(now);
}

}  // namespace

RecordState record_state(const LiveDocument& document) {
    const store::DocumentRecord& record = document.record();
    return {record.name, record.deleted, record.header};
}

void put_header(LiveDocument& document, const MemoryHeader& header) {
    document.transaction().set_header(encode(header));
}

void record_change(LiveDocument& document, const policy::Actor& by, std::string description,
                   RecordState before, std::vector<crdt::IdSpan> spans,
                   store::DocumentKey partner) {
    Unit unit;
    unit.actor = by.str();
    unit.description = std::move(description);
    unit.kind = UnitKind::record;
    unit.spans = std::move(spans);
    unit.record = std::make_shared<const RecordChange>(
        RecordChange{std::move(before), record_state(document), partner});
    document.record(document.whole(), std::move(unit));
}

Result<std::optional<RecordState>> record_set_back(const LiveDocument& document,
                                                   const RecordChange& change, bool redo) {
    const RecordState& from = redo ? change.before : change.after;
    const RecordState& to = redo ? change.after : change.before;
    RecordState now = record_state(document);
    std::optional<Bytes> header = TRY(header_set_back(document.record(), from, to));
    if (!header || !set_member_back(now.name, from.name, to.name) ||
        !set_member_back(now.deleted, from.deleted, to.deleted))
        return std::optional<RecordState>();
    now.header = std::move(*header);
    return now;
}

// Undone writes do not count, and changes of the record alone have no spans.
bool others_wrote_since(const BlockRef& block, const policy::Actor& by, std::uint64_t version) {
    const std::vector<Unit>& units = block.state->history.units();
    return std::any_of(units.begin(), units.end(), [&](const Unit& unit) {
        return unit.version > version && unit.actor != by.str() && unit.state == UnitState::done &&
               !unit.spans.empty();
    });
}

// The history is walked from the version onwards: the first later change of the header holds the
// schema from before it. Where none follows, the present schema was valid then.
Result<memory::BlockSchema> schema_at(LiveDocument& document, const MemoryHeader& header,
                                      const BlockAt& at) {
    const std::vector<Unit>& units = document.whole().state->history.units();
    const std::size_t since = std::min(at.units_since, units.size());
    for (auto unit = units.end() - static_cast<std::ptrdiff_t>(since); unit != units.end();
         ++unit) {
        if (unit->record && unit->record->before.header != unit->record->after.header) {
            const RecordState& before = unit->record->before;
            return TRY(decode_memory_header(before.name, before.header)).block.schema;
        }
        // An extension leaves what was there where it was.
        if (!unit->record && unit->kind == UnitKind::take_back &&
            unit->description == kConversion) {
            return fail(Errc::unsupported, "schema_changed",
                        cat("version ", at.version,
                            " is older than the block's conversion to the schema "
                            "that it has now"),
                        {{"version_id", cat(at.version)}});
        }
    }
    return header.block.schema;
}

}  // namespace quire::kernel

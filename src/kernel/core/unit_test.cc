#include "kernel/core/unit.h"

#include <gtest/gtest.h>

namespace quire::kernel {
namespace {

Unit whole_unit() {
    Unit unit;
    unit.version = 7;
    unit.actor = "agent:ada";
    unit.at_ms = 1'700'000'000'000;
    unit.description = "edit";
    unit.kind = UnitKind::content;
    unit.state = UnitState::undone;
    unit.group = 3;
    unit.status = {conversation::Status::pending, conversation::Status::running};
    unit.heads = {{1, 4}, {~std::uint64_t{0} - 1, 2'000'000'000}};
    unit.spans = {{5, 10, 12}};
    unit.kept = {{5, 0, 3}, {6, 1, 2}};
    unit.stand_ins = {{{5, 1}, {6, 1}, 2, crdt::StandIn::As::settled}};
    return unit;
}

void expect_same(const Unit& read, const Unit& unit) {
    EXPECT_EQ(read.version, unit.version);
    EXPECT_EQ(read.actor, unit.actor);
    EXPECT_EQ(read.at_ms, unit.at_ms);
    EXPECT_EQ(read.description, unit.description);
    EXPECT_EQ(read.kind, unit.kind);
    EXPECT_EQ(read.state, unit.state);
    EXPECT_EQ(read.group, unit.group);
    ASSERT_EQ(read.status.has_value(), unit.status.has_value());
    if (unit.status) {
        EXPECT_EQ(read.status->from, unit.status->from);
        EXPECT_EQ(read.status->to, unit.status->to);
    }
    EXPECT_EQ(read.heads, unit.heads);
    EXPECT_EQ(read.spans, unit.spans);
    EXPECT_EQ(read.kept, unit.kept);
    EXPECT_EQ(read.stand_ins, unit.stand_ins);
}

TEST(Unit, AUnitIsReadAsItWasWritten) {
    const Unit unit = whole_unit();
    const store::UnitRecord record = to_record(unit, 2, "1_0");
    const Result<Unit> read = from_record(record);
    ASSERT_TRUE(read);
    expect_same(*read, unit);
    EXPECT_EQ(to_record(*read, 2, "1_0").body, record.body);

    Unit bare;
    bare.actor = "agent:bo";
    const Result<Unit> again = from_record(to_record(bare, 2, ""));
    ASSERT_TRUE(again);
    expect_same(*again, bare);
    EXPECT_FALSE(again->heads);
}

TEST(Unit, RecordsOfOlderProgramsHaveNoKeptSpans) {
    Unit unit = whole_unit();
    unit.kept.clear();
    store::UnitRecord record = to_record(unit, 2, "1_0");
    // Format 5 added a number of spans and format 6 a byte that says whether the record changed; both
    // stand before the one stand-in of 29 bytes.
    record.body.erase(record.body.end() - 29 - 5, record.body.end() - 29);
    record.body[0] = 4;

    const Result<Unit> read = from_record(record);

    ASSERT_TRUE(read);
    expect_same(*read, unit);
}

TEST(Unit, AChangeOfTheRecordIsReadAsItWasWritten) {
    Unit unit = whole_unit();
    unit.record = std::make_shared<const RecordChange>(
        RecordChange{{"notes", false, {1, 2}}, {"old", true, {3}}, 7});

    const Result<Unit> read = from_record(to_record(unit, 2, "1_0"));

    ASSERT_TRUE(read);
    expect_same(*read, unit);
    ASSERT_TRUE(read->record);
    EXPECT_EQ(read->record->before, unit.record->before);
    EXPECT_EQ(read->record->after, unit.record->after);
    EXPECT_EQ(read->record->partner, 7);
}

TEST(Unit, ARecordCutAnywhereIsDamaged) {
    Unit unit = whole_unit();
    unit.stand_ins.clear();
    const store::UnitRecord record = to_record(unit, 2, "1_0");
    for (std::size_t size = 0; size < record.body.size(); ++size) {
        store::UnitRecord cut = record;
        cut.body.resize(size);
        const Result<Unit> read = from_record(cut);
        ASSERT_FALSE(read) << size;
        EXPECT_EQ(read.error().code(), Errc::corrupt);
    }
}

TEST(Unit, UnknownWordsInARecordAreDamage) {
    const store::UnitRecord record = to_record(whole_unit(), 2, "1_0");
    // Format, kind, the status before and after.
    for (const std::size_t at : {0, 1, 10, 11}) {
        store::UnitRecord wrong = record;
        wrong.body[at] = 0xEE;
        EXPECT_FALSE(from_record(wrong)) << at;
    }
    // A number of heads, and of spans, beyond all that there is.
    for (const std::size_t at : {12, 40}) {
        store::UnitRecord wrong = record;
        wrong.body[at + 2] = 0xFF;
        EXPECT_FALSE(from_record(wrong)) << at;
    }
}

}  // namespace
}  // namespace quire::kernel

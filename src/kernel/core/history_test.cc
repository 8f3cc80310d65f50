#include "kernel/core/history.h"

#include <algorithm>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"

namespace quire::kernel {
namespace {

// Units as calls make them: most are appends that follow one another.
class UnitMaker {
public:
    explicit UnitMaker(unsigned seed) : random_(seed) {}

    Unit next() {
        Unit unit;
        version_ += 1 + one_in(8) * below(1000);
        unit.version = version_;
        now_ms_ += static_cast<std::int64_t>(below(2000)) - (one_in(20) ? 5000 : 0);
        unit.at_ms = now_ms_;
        if (one_in(10)) actor_ = below(3);
        unit.actor = cat("agent:with-a-name-of-its-own-", actor_);
        unit.description = one_in(6) ? cat("rollback ", below(100)) : std::string("append");
        if (one_in(12)) group_ = version_;
        unit.group = group_;
        if (one_in(6)) unit.kind = static_cast<UnitKind>(below(6));
        if (one_in(6)) unit.state = static_cast<UnitState>(below(3));
        if (one_in(9)) {
            unit.status = {static_cast<conversation::Status>(below(4)),
                           static_cast<conversation::Status>(below(4))};
        }
        for (std::size_t spans = one_in(8) ? below(3) : 1; spans > 0; --spans)
            unit.spans.push_back(span());
        if (!one_in(8) && !unit.spans.empty()) {
            unit.heads = {{unit.spans.back().peer, unit.spans.back().end - 1}};
        } else if (one_in(2)) {
            unit.heads = crdt::Frontiers();
            for (std::size_t heads = below(3); heads > 0; --heads)
                unit.heads->push_back({below(5), static_cast<crdt::Counter>(below(1 << 30))});
        }
        if (one_in(15)) unit.kept = {span(), span()};
        if (one_in(15)) unit.stand_ins = {{{5, 1}, {6, 1}, 2, crdt::StandIn::As::settled}};
        if (one_in(25)) {
            unit.record = std::make_shared<const RecordChange>(
                RecordChange{{"a", false, {1}}, {"b", true, {}}, 3});
        }
        return unit;
    }
    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool one_in(std::size_t n) { return below(n) == 0; }

private:
    crdt::IdSpan span() {
        const std::uint64_t peer = ~std::uint64_t{0} - actor_;
        crdt::Counter& at = at_[actor_];
        if (one_in(10)) at = static_cast<crdt::Counter>(below(1 << 30));
        const crdt::Counter begin = at;
        at += static_cast<crdt::Counter>(1 + below(200));
        return {peer, begin, at};
    }

    std::mt19937 random_;
    std::uint64_t version_ = 0, group_ = 0;
    std::int64_t now_ms_ = 1'700'000'000'000;
    std::size_t actor_ = 0;
    crdt::Counter at_[3] = {};
};

// All fields of a unit, for comparison.
std::string fields(const Unit& unit) {
    const store::UnitRecord record = to_record(unit, 0, "");
    return cat(record.version, " ", record.actor, " ", record.at_ms, " ", record.description, " ",
               record.state, " ", as_text(record.body));
}
std::vector<std::string> fields(const std::vector<Unit>& units) {
    std::vector<std::string> out;
    for (const Unit& unit : units) out.push_back(fields(unit));
    return out;
}

TEST(History, UnitsArePackedWithoutLoss) {
    for (unsigned seed = 1; seed <= 200 / kRoundsShare; ++seed) {
        UnitMaker maker(seed);
        PackedUnits packed;
        std::vector<Unit> units;
        for (std::size_t n = maker.below(80); n > 0; --n) {
            units.push_back(maker.next());
            packed.add(units.back());
        }
        EXPECT_EQ(packed.size(), units.size());
        EXPECT_EQ(fields(packed.all()), fields(units)) << "SEED=" << seed;
    }
}

// The reference keeps its units in a vector and is never packed.
TEST(History, APackedHistoryAnswersAsAnOpenOne) {
    for (unsigned seed = 1; seed <= 200 / kRoundsShare; ++seed) {
        UnitMaker maker(seed);
        History history, reference;
        EXPECT_TRUE(reference.units().empty());
        const auto versions = [](const std::vector<Unit*>& units) {
            std::vector<std::uint64_t> out;
            for (const Unit* unit : units) out.push_back(unit->version);
            return out;
        };
        for (std::size_t step = 0; step < 60; ++step) {
            SCOPED_TRACE(cat("SEED=", seed, " step ", step));
            if (maker.one_in(3)) history.pack();
            const Unit unit = maker.next();
            const std::optional<std::string> actor =
                maker.one_in(2) ? std::optional(unit.actor) : std::nullopt;
            switch (maker.below(5)) {
                case 0:
                    EXPECT_EQ(versions(history.next_undo(actor)),
                              versions(reference.next_undo(actor)));
                    break;
                case 1:
                    EXPECT_EQ(versions(history.next_redo(actor)),
                              versions(reference.next_redo(actor)));
                    break;
                case 2:
                    EXPECT_EQ(versions(history.forget_redo(unit.actor)),
                              versions(reference.forget_redo(unit.actor)));
                    break;
                case 3:
                    for (Unit* each : history.next_undo(actor))
                        history.set_state(*each, UnitState::undone);
                    for (Unit* each : reference.next_undo(actor))
                        reference.set_state(*each, UnitState::undone);
                    break;
                default:
                    history.add(unit);
                    reference.add(unit);
            }
            EXPECT_EQ(history.size(), reference.size());
        }
        EXPECT_EQ(fields(history.units()), fields(reference.units())) << "SEED=" << seed;
    }
}

TEST(History, AStreamOfAppendsTakesTenBytesAUnit) {
    History history;
    for (int i = 0; i < 1000; ++i) {
        Unit unit;
        unit.version = static_cast<std::uint64_t>(i) + 2;
        unit.actor = "agent:ada";
        unit.at_ms = 1'700'000'000'000 + 20 * i;
        unit.description = "append";
        unit.group = 2;
        unit.spans = {{77, 50 * i, 50 * (i + 1)}};
        unit.heads = {{77, 50 * (i + 1) - 1}};
        history.add(std::move(unit));
    }
    history.units();
    history.pack();
    EXPECT_LT(history.memory_bytes(), 10'000U);
    EXPECT_EQ(history.size(), 1000U);
}

}  // namespace
}  // namespace quire::kernel

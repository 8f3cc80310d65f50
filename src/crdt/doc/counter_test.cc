// Counters: sums, and which deltas are written how.
#include "crdt/doc/counter.h"

#include <limits>

#include <gtest/gtest.h>

#include "crdt/doc/apply.h"
#include "crdt/doc/doc.h"

namespace quire::crdt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const ContainerId kCounter = ContainerId::root("n", ContainerKind::counter);

struct CounterReplica {
    explicit CounterReplica(PeerId peer) : doc(peer), counter(doc.open(kCounter)) {}
    double add(double delta) {
        const auto value = doc.counter(counter).add(delta);
        EXPECT_TRUE(value);
        return value ? *value : 0;
    }
    void pull(CounterReplica& other) {
        doc.commit();
        other.doc.commit();
        EXPECT_TRUE(doc.import(other.doc.changes_since(doc.version())));
    }
    Doc doc;
    Handle counter;
};

TEST(Counter, TheSumHoldsEveryonesAdditions) {
    CounterReplica a(1);
    CounterReplica b(2);
    EXPECT_EQ(a.doc.counter(a.counter).value(), 0.0);
    EXPECT_EQ(a.add(3), 3.0);
    EXPECT_EQ(a.add(-0.25), 2.75);
    b.add(10);
    a.pull(b);
    b.pull(a);
    EXPECT_EQ(a.doc.counter(a.counter).value(), 12.75);
    EXPECT_EQ(b.doc.value(), Value(Map{{"n", 12.75}}));
    check_invariants(a.doc);
    check_invariants(b.doc);
}

TEST(Counter, SmallWholeNumbersAreWrittenAsIntegers) {
    CounterReplica a(1);
    constexpr double kBound = 1 << 27;
    for (const double delta : {0.0, 1.0, -7.0, kBound - 1, 0.5, 1e-17, kBound, -kBound, 1e300})
        a.add(delta);
    a.doc.commit();
    std::vector<Value> deltas;
    const std::vector<Change> changes = a.doc.changes_since({}).changes();
    for (const Op& op : changes.at(0).ops) deltas.push_back(std::get<CounterAdd>(op.content).delta);
    EXPECT_EQ(deltas,
              (std::vector<Value>{0, 1, -7, (1 << 27) - 1, 0.5, 1e-17, kBound, -kBound, 1e300}));
}

TEST(Counter, ImportedAdditionsKeepTheirEncoding) {
    CounterReplica a(1);
    const std::vector<Op> ops = {{kCounter, 0, CounterAdd{Value(1.0)}},
                                 {kCounter, 1, CounterAdd{Value(1)}}};
    ASSERT_TRUE(a.doc.import({{{5, 0}, {}, 0, 0, "", ops}}));
    EXPECT_TRUE(same_atoms(a.doc.changes_since({}).changes().at(0).ops, ops));
    EXPECT_EQ(a.doc.counter(a.counter).value(), 2.0);
}

TEST(Counter, ANonFiniteAdditionIsRefused) {
    CounterReplica a(1);
    for (const double delta : {kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
        const auto value = a.doc.counter(a.counter).add(delta);
        ASSERT_FALSE(value);
        EXPECT_EQ(value.error().reason(), "not_finite");
    }
    EXPECT_TRUE(a.doc.pending().empty());
}

TEST(Counter, TheSumMayOverflowByAnyEdit) {
    CounterReplica a(1);
    a.add(1e308);
    EXPECT_EQ(a.add(1e308), kInfinity);
    CounterReplica b(2);
    b.add(1e308);
    EXPECT_TRUE(apply_diff(b.doc, {{kCounter, CounterDelta{1e308}, {}}}));
    EXPECT_EQ(b.doc.counter(b.counter).value(), kInfinity);
    EXPECT_FALSE(apply_diff(b.doc, {{kCounter, CounterDelta{kInfinity}, {}}}));
}

TEST(Counter, ASumThatIsNotFiniteStays) {
    CounterReplica a(1);
    a.add(1e308);
    a.add(1e308);
    const auto before = a.doc.pending();
    EXPECT_EQ(a.doc.counter(a.counter).bring_to(3).value(), kInfinity);
    EXPECT_EQ(a.doc.pending(), before);
}

TEST(Counter, ACommitReportsTheIncrement) {
    CounterReplica a(1);
    a.add(5);
    a.doc.commit();
    a.add(2);
    a.add(-0.5);
    const Commit commit = a.doc.commit({.want_diff = true});
    ASSERT_EQ(commit.diff.size(), 1U);
    EXPECT_EQ(commit.diff[0].delta, Delta(CounterDelta{1.5}));
}

TEST(Counter, ARefusedImportAddsNothing) {
    CounterReplica a(1);
    a.add(1);
    a.doc.commit();
    const ContainerId list = ContainerId::root("l", ContainerKind::movable_list);
    EXPECT_FALSE(
        a.doc.import({{{5, 0},
                       {},
                       0,
                       0,
                       "",
                       {{kCounter, 0, CounterAdd{Value(1)}}, {list, 1, ListMove{0, 0, {5, 0}}}}}}));
    EXPECT_EQ(a.doc.counter(a.counter).value(), 1.0);
    a.add(2);
    EXPECT_EQ(a.doc.counter(a.counter).value(), 3.0);
    a.doc.commit();
    check_invariants(a.doc);
}

}  // namespace
}  // namespace quire::crdt

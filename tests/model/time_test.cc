// Travels in time: every version that was is shown again as it was, and what a diff says leads from
// one version to the other.
#include <gtest/gtest.h>

#include "crdt/doc/apply.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "json/json.h"
#include "tests/model/model.h"
#include "tests/model/scribblers.h"
#include "tests/model/shadow.h"

namespace quire {
namespace {

using namespace crdt;
using model::Scribblers;
using model::Shadow;

class Time : public testing::Test {
protected:
    // Histories of two to four peers, all of it known to the first; `check` looks at one.
    template <class Check>
    static void for_each_history(std::uint64_t runs, Check check) {
        const model::Runs given(runs);
        for (std::uint64_t run = 0; run < given.count; ++run) {
            const std::uint64_t seed = given.seed + run;
            SCOPED_TRACE("SEED=" + std::to_string(seed) + " QUIRE_STEPS=1");
            Scribblers peers(seed, 2 + seed % 3);
            for (int i = 0; i < 40; ++i) peers.step();
            peers.meet();
            check(peers);
            if (testing::Test::HasFatalFailure()) return;
        }
    }
    static const Scribblers::Moment& any(Scribblers& peers) {
        return peers.moments()[peers.below(peers.moments().size())];
    }
};

TEST_F(Time, EveryVersionThatWasIsShownAgainAsItWas) {
    for_each_history(40, [](Scribblers& peers) {
        Doc& doc = peers.doc(0);
        const Value latest = doc.value();
        for (std::size_t i = 0; i < 12; ++i) {
            const Scribblers::Moment& moment = any(peers);
            ASSERT_TRUE(doc.checkout(moment.frontiers));
            ASSERT_TRUE(doc.value() == moment.value) << json::write(doc.value()) << "\n"
                                                     << json::write(moment.value);
            ASSERT_EQ(doc.version(), moment.version);
            ASSERT_EQ(doc.frontiers(), moment.frontiers);
            std::vector<IdSpan> spans;
            for (const auto& [peer, end] : moment.version.ends()) spans.push_back({peer, 0, end});
            ASSERT_TRUE(doc.value() == model::replay(doc.changes_in(spans).changes()));
        }
        doc.checkout_to_latest();
        ASSERT_TRUE(doc.value() == latest);
        crdt::check_invariants(doc);
    });
}

TEST_F(Time, AForkHoldsItsVersionAndNoMore) {
    for_each_history(20, [](Scribblers& peers) {
        const Scribblers::Moment& moment = any(peers);
        const Result<Doc> fork = fork_at(peers.doc(0), moment.frontiers, 999);
        ASSERT_TRUE(fork);
        ASSERT_TRUE(fork->value() == moment.value);
        ASSERT_EQ(fork->version(), moment.version);
        crdt::check_invariants(*fork);
    });
}

TEST_F(Time, ADiffLeadsFromOneVersionToTheOther) {
    for_each_history(60, [](Scribblers& peers) {
        Doc& doc = peers.doc(0);
        for (std::size_t i = 0; i < 6; ++i) {
            const Scribblers::Moment& from = any(peers);
            const Scribblers::Moment& to = any(peers);
            Shadow shadow;
            shadow.apply(*doc.history().diff({}, from.frontiers));
            ASSERT_TRUE(shadow.value() == model::without_empty_roots(from.value))
                << json::write(shadow.value()) << "\n"
                << json::write(from.value);
            const Result<Diff> diff = doc.history().diff(from.frontiers, to.frontiers);
            ASSERT_TRUE(diff);
            shadow.apply(*diff);
            ASSERT_TRUE(shadow.value() == model::without_empty_roots(to.value))
                << json::write(shadow.value()) << "\n"
                << json::write(to.value);
            const ContainerId text = ContainerId::root("text", ContainerKind::text);
            ASSERT_TRUE(doc.checkout(to.frontiers));
            ASSERT_EQ(shadow.text(text), doc.text(doc.open(text)).delta());
            doc.checkout_to_latest();
        }
    });
}

TEST_F(Time, RevertingLeadsBackToHowItWas) {
    for_each_history(40, [](Scribblers& peers) {
        Doc& doc = peers.doc(0);
        for (std::size_t i = 0; i < 4; ++i) {
            const Scribblers::Moment& moment = any(peers);
            const Result<void> reverted = crdt::revert_to(doc, moment.frontiers);
            ASSERT_TRUE(reverted) << reverted.error().message();
            doc.commit();
            ASSERT_TRUE(model::nameless(model::without_empty_roots(doc.value())) ==
                        model::nameless(model::without_empty_roots(moment.value)))
                << json::write(doc.value()) << "\n"
                << json::write(moment.value);
        }
        crdt::check_invariants(doc);
    });
}

// A shadow that hears every event, and knows nothing else, shows what the document shows.
TEST_F(Time, AShadowMadeOfEventsIsTheState) {
    const model::Runs given(60);
    for (std::uint64_t run = 0; run < given.count; ++run) {
        const std::uint64_t seed = given.seed + run;
        SCOPED_TRACE("SEED=" + std::to_string(seed) + " QUIRE_STEPS=1");
        Scribblers peers(seed, 2 + seed % 3);
        Doc& doc = peers.doc(0);
        Shadow shadow;
        Frontiers last;
        const Subscription subscription = crdt::subscribe_root(doc, [&](const Event& event) {
            ASSERT_EQ(event.from, last);
            last = event.to;
            shadow.apply(event.diffs);
            ASSERT_EQ(last, doc.frontiers());
            const ContainerId text = ContainerId::root("text", ContainerKind::text);
            ASSERT_EQ(shadow.text(text), doc.text(doc.open(text)).delta());
            ASSERT_TRUE(shadow.value() == model::without_empty_roots(doc.value()))
                << json::write(shadow.value()) << "\n"
                << json::write(doc.value());
        });
        for (int i = 0; i < 60; ++i) {
            peers.step();
            if (peers.below(6) == 0 && !peers.moments().empty()) {
                peers.commit(doc);
                // Not every moment is known here.
                (void)doc.checkout(any(peers).frontiers);
                if (peers.below(2) == 0) peers.exchange(0);
                if (peers.below(2) == 0) (void)doc.checkout(any(peers).frontiers);
                doc.checkout_to_latest();
            }
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST_F(Time, SpansBetweenVersionsAreTheAtomsThatOneVersionLacks) {
    for_each_history(20, [](Scribblers& peers) {
        const Doc& doc = peers.doc(0);
        const Scribblers::Moment& from = any(peers);
        const Scribblers::Moment& to = any(peers);
        const auto between = doc.history().spans_between(from.frontiers, to.frontiers);
        ASSERT_TRUE(between);
        VersionVector version = from.version;
        for (const IdSpan& span : between->back) {
            ASSERT_EQ(version.end_of(span.peer), span.end);
            version.set(span.peer, span.begin);
        }
        for (const IdSpan& span : between->forward) {
            ASSERT_EQ(version.end_of(span.peer), span.begin);
            version.extend(span.peer, span.end);
        }
        ASSERT_EQ(version, to.version);
        ASSERT_EQ(*doc.history().version_of(to.frontiers), to.version);
    });
}

}  // namespace
}  // namespace quire

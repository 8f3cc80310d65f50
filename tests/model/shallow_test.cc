// A shallow document beside one with all of the history: both make the same edits, take the same
// changes and the same undos, and must agree in all that happens after the start.
#include "crdt/doc/shallow.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/json_updates.h"
#include "codec/open_snapshot.h"
#include "codec/shallow_snapshot.h"
#include "crdt/doc/cursor.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/text.h"
#include "crdt/ids/container_text.h"
#include "crdt/undo/undo_history.h"
#include "json/json.h"
#include "tests/model/scribblers.h"

namespace quire {
namespace {

using namespace crdt;
using model::Scribblers;

constexpr PeerId kTwin = 77;

std::map<ContainerId, Delta> by_container(const Diff& diff) {
    std::map<ContainerId, Delta> parts;
    for (const ContainerDiff& part : diff) parts.emplace(part.container, part.delta);
    return parts;
}

// The changes since a version, in an order that does not depend on how they came in.
std::string json_changes(const Doc& doc, const VersionVector& since) {
    std::vector<Change> changes = doc.changes_since(since).changes();
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.id < b.id; });
    return json::write(
        codec::encode_json_updates(changes, {}, codec::JsonPeers::inline_ids).value());
}

// A value without the ids of the nodes of trees in it.
std::string nameless(const Value& value) {
    constexpr std::string_view kId = "\"id\":\"";
    std::string text = json::write(value);
    for (std::size_t at = text.find(kId); at != std::string::npos; at = text.find(kId, at))
        text.erase(at, text.find('"', at + kId.size()) + 1 - at);
    return text;
}

// A shallow document and a whole one, by one peer who makes the same edits in both.
class Twins {
public:
    Twins(Scribblers& peers, const Frontiers& version) : peers_(peers) {
        const Doc& source = peers.doc(0);
        start_ = start_for(source, version).value();
        const Bytes blob = codec::encode_shallow_snapshot(source, version).value();
        opened_ = codec::open_snapshot(shallow, blob).value();
        CHECK(whole.import(source.changes_since({})));
        since_ = whole.history().version_of(start_).value();
    }

    const Frontiers& start() const { return start_; }
    // Returns false if the history could not be trimmed.
    bool is_shallow() const { return opened_ && !start_.empty(); }

    void edit() {
        Scribblers twin = peers_.twin();
        peers_.edit(shallow);
        twin.edit(whole);
    }
    void commit() {
        const Commit a = shallow.commit({.want_diff = true});
        const Commit b = whole.commit({.want_diff = true});
        ASSERT_EQ(a.span, b.span);
        ASSERT_TRUE(by_container(a.diff) == by_container(b.diff));
    }
    void import_from(const Doc& other) {
        const auto a = shallow.import(other.changes_since(shallow.version()), {.want_diff = true});
        const auto b = whole.import(other.changes_since(whole.version()), {.want_diff = true});
        ASSERT_TRUE(a) << a.error().message();
        ASSERT_TRUE(b);
        ASSERT_EQ(a->success, b->success);
        ASSERT_TRUE(by_container(a->diff) == by_container(b->diff));
    }

    void compare() { compare_values(shallow, whole); }
    // The ops of an undo may come in another order of containers, so what they make has other ids.
    void compare_roots() {
        ASSERT_EQ(shallow.version(), whole.version());
        for (const Handle container : Inspection(whole).written()) {
            const ContainerId& id = whole.id_of(container);
            if (!id.is_root()) continue;
            ASSERT_EQ(nameless(shallow.value(shallow.open(id))), nameless(whole.value(container)))
                << to_text(id);
        }
    }
    static void compare_values(Doc& shallow, Doc& whole) {
        ASSERT_EQ(shallow.version(), whole.version());
        ASSERT_EQ(shallow.frontiers(), whole.frontiers());
        for (const Handle container : Inspection(whole).written()) {
            const ContainerId& id = whole.id_of(container);
            const Handle same = shallow.open(id);
            ASSERT_EQ(shallow.is_alive(same), whole.is_alive(container)) << to_text(id);
            if (!whole.is_alive(container)) continue;
            ASSERT_TRUE(shallow.value(same) == whole.value(container))
                << json::write(shallow.value(same)) << "\n"
                << json::write(whole.value(container));
            if (id.kind == ContainerKind::text) {
                ASSERT_TRUE(shallow.text(same).delta() == whole.text(container).delta());
            }
        }
    }
    void compare_exports() {
        ASSERT_EQ(json_changes(shallow, since_), json_changes(whole, since_));
        ASSERT_TRUE(shallow.history().load());
        check_invariants(shallow);
    }
    // Values and differences at versions of the past.
    void travel(const Frontiers& a, const Frontiers& b) {
        for (const Frontiers& at : {a, b, start_}) {
            ASSERT_TRUE(whole.checkout(at));
            const Result<void> there = shallow.checkout(at);
            if (!there) {
                ASSERT_EQ(there.error().reason(), "shallow_snapshot");
                ASSERT_FALSE(whole.version().includes(since_));
            } else {
                ASSERT_TRUE(whole.version().includes(since_));
                compare();
            }
            shallow.checkout_to_latest();
            whole.checkout_to_latest();
        }
        const auto ours = shallow.history().diff(a, b);
        if (ours) {
            ASSERT_TRUE(by_container(*ours) == by_container(whole.history().diff(a, b).value()));
        }
    }
    void reopen() {
        Doc again(kTwin);
        const Bytes blob = codec::encode_snapshot(shallow).value();
        ASSERT_TRUE(codec::open_snapshot(again, blob).value());
        compare_values(again, whole);
        ASSERT_EQ(again.history().start()->frontiers(), start_);
        ASSERT_TRUE(again.history().load());
        compare_values(again, whole);
        ASSERT_EQ(json_changes(again, since_), json_changes(whole, since_));
    }

    Doc shallow{kTwin};
    Doc whole{kTwin};

private:
    Scribblers& peers_;
    Frontiers start_;
    VersionVector since_;
    bool opened_ = false;
};

class Shallow : public testing::Test {
protected:
    // Twins of what two to four peers wrote; `check` looks at them. Not every history can be trimmed, so
    // there are more histories than runs.
    template <class Check>
    static void for_each_twins(std::uint64_t runs, Check check) {
        constexpr std::uint64_t kMostHistories = 100;  // For one run.
        const model::Runs given(runs);
        std::uint64_t shallow = 0;
        for (std::uint64_t run = 0; shallow < given.count; ++run) {
            ASSERT_LT(run, kMostHistories * given.count) << "hardly any history can be trimmed";
            const std::uint64_t seed = given.seed + run;
            SCOPED_TRACE("SEED=" + std::to_string(seed) + " QUIRE_STEPS=1");
            Scribblers peers(seed, 2 + seed % 3);
            for (int round = 0; round < 3; ++round) {
                for (std::size_t i = 0; i < 12; ++i) peers.step();
                if (peers.below(3) != 0) peers.meet();
            }
            peers.meet();
            const auto& moments = peers.moments();
            const Frontiers version = peers.below(3) == 0
                                          ? peers.doc(0).frontiers()
                                          : moments[peers.below(moments.size())].frontiers;
            Twins twins(peers, version);
            if (!twins.is_shallow()) continue;
            ++shallow;
            check(peers, twins);
            if (testing::Test::HasFatalFailure()) break;
        }
    }
};

TEST_F(Shallow, AgreesWithTheWholeHistoryInAllThatComesAfterTheStart) {
    for_each_twins(60, [](Scribblers& peers, Twins& twins) {
        ASSERT_NO_FATAL_FAILURE(twins.compare());
        for (int round = 0; round < 4; ++round) {
            for (std::size_t i = 0; i < 6; ++i) peers.step();
            for (std::size_t i = peers.below(4); i > 0; --i) twins.edit();
            ASSERT_NO_FATAL_FAILURE(twins.commit());
            ASSERT_NO_FATAL_FAILURE(twins.compare());
            const std::size_t from = peers.below(peers.count());
            peers.commit(peers.doc(from));
            ASSERT_NO_FATAL_FAILURE(twins.import_from(peers.doc(from)));
            ASSERT_NO_FATAL_FAILURE(twins.compare());
            if (peers.below(2) == 0) {
                Doc& to = peers.doc(from);
                ASSERT_TRUE(to.import(twins.shallow.changes_since(to.version())));
            }
        }
        ASSERT_NO_FATAL_FAILURE(twins.compare_exports());
        ASSERT_NO_FATAL_FAILURE(twins.reopen());
    });
}

TEST_F(Shallow, ShowsEachVersionFromTheStartOn) {
    for_each_twins(40, [](Scribblers& peers, Twins& twins) {
        for (std::size_t i = 0; i < 10; ++i) peers.step();
        peers.meet();
        ASSERT_NO_FATAL_FAILURE(twins.import_from(peers.doc(0)));
        for (int i = 0; i < 4; ++i) {
            const auto& moments = peers.moments();
            const Frontiers a = moments[peers.below(moments.size())].frontiers;
            const Frontiers b = moments[peers.below(moments.size())].frontiers;
            ASSERT_NO_FATAL_FAILURE(twins.travel(a, b));
            const Result<Doc> fork = fork_at(twins.shallow, a, 5);
            if (!fork) continue;
            Doc copy = fork_at(twins.whole, a, 5).value();
            ASSERT_NO_FATAL_FAILURE(Twins::compare_values(const_cast<Doc&>(*fork), copy));
        }
        const auto before = twins.shallow.checkout({});
        ASSERT_FALSE(before);
        ASSERT_EQ(before.error().reason(), "shallow_snapshot");
        ASSERT_FALSE(twins.shallow.is_detached());
    });
}

TEST_F(Shallow, IsForkedWithItsStart) {
    for_each_twins(40, [](Scribblers& peers, Twins& twins) {
        twins.edit();
        ASSERT_NO_FATAL_FAILURE(twins.commit());
        const auto start = twins.shallow.history().start();
        twins.shallow = twins.shallow.fork(kTwin);
        ASSERT_TRUE(twins.shallow.history().start() == start);
        ASSERT_NO_FATAL_FAILURE(twins.compare());
        for (std::size_t i = 0; i < 8; ++i) peers.step();
        for (std::size_t i = 0; i < 3; ++i) twins.edit();
        ASSERT_NO_FATAL_FAILURE(twins.commit());
        ASSERT_NO_FATAL_FAILURE(twins.import_from(peers.doc(0)));
        ASSERT_NO_FATAL_FAILURE(twins.compare());
        ASSERT_NO_FATAL_FAILURE(twins.compare_exports());
        check_invariants(twins.shallow);
    });
}

TEST_F(Shallow, UndoesWhatCameAfterTheStart) {
    for_each_twins(40, [](Scribblers& peers, Twins& twins) {
        ASSERT_TRUE(twins.shallow.history().load());
        UndoHistory ours(twins.shallow);
        UndoHistory theirs(twins.whole);
        bool is_undone = false;
        for (int round = 0; round < 10; ++round) {
            const std::size_t what = peers.below(4);
            // Once something was undone, ids tell different things in the two. Concurrent edits of others are
            // ordered by ids, so none come in after that.
            if (round < 5 && what != 2 && !is_undone) {
                for (std::size_t i = 1 + peers.below(3); i > 0; --i) twins.edit();
                ours.committed(twins.shallow.commit(), round);
                theirs.committed(twins.whole.commit(), round);
            } else if (what == 2 && !is_undone) {
                peers.step();
                const std::size_t from = peers.below(peers.count());
                peers.commit(peers.doc(from));
                ASSERT_NO_FATAL_FAILURE(twins.import_from(peers.doc(from)));
            } else if (peers.below(3) > 0) {
                is_undone = true;
                ASSERT_EQ(ours.undo(round), theirs.undo(round));
            } else {
                ASSERT_EQ(ours.redo(round), theirs.redo(round));
            }
            ASSERT_NO_FATAL_FAILURE(twins.compare_roots());
        }
        while (ours.can_undo()) ASSERT_EQ(ours.undo(9), theirs.undo(9));
        ASSERT_NO_FATAL_FAILURE(twins.compare_roots());
        check_invariants(twins.shallow);
    });
}

TEST_F(Shallow, AStateAloneShowsItsVersion) {
    for_each_twins(40, [](Scribblers& peers, Twins& twins) {
        const auto& moments = peers.moments();
        const Frontiers version = moments[peers.below(moments.size())].frontiers;
        Doc whole = fork_at(twins.whole, version, kTwin).value();
        Doc state(kTwin);
        ASSERT_TRUE(
            codec::open_snapshot(state, codec::encode_state_only(twins.whole, version).value())
                .value());
        ASSERT_NO_FATAL_FAILURE(Twins::compare_values(state, whole));
    });
}

}  // namespace
}  // namespace quire

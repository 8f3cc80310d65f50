// Movable lists: who wins where writes meet, what an index means, what is refused.
#include "crdt/doc/movable_list.h"

#include <random>

#include <gtest/gtest.h>

#include "base/words_for_test.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

const ContainerId kMovable = ContainerId::root("l", ContainerKind::movable_list);

struct ListReplica {
    explicit ListReplica(PeerId peer) : doc(peer), list(doc.open(kMovable)) {}

    void push(Value value) { insert(doc.movable_list(list).size(), std::move(value)); }
    void insert(std::size_t at, Value value) {
        EXPECT_TRUE(doc.movable_list(list).insert(at, std::move(value)));
    }
    void move(std::size_t from, std::size_t to) {
        EXPECT_TRUE(doc.movable_list(list).move(from, to));
    }
    void set(std::size_t at, Value value) {
        EXPECT_TRUE(doc.movable_list(list).set(at, std::move(value)));
    }
    void erase(std::size_t at, std::size_t count) {
        EXPECT_TRUE(doc.movable_list(list).erase(at, count));
    }
    Value read() const { return doc.value(list); }
    // The ops since a version, one list for all changes.
    std::vector<OpContent> ops_since(const VersionVector& from) {
        doc.commit();
        std::vector<OpContent> ops;
        for (const Change& change : doc.changes_since(from).changes()) {
            for (const Op& op : change.ops) ops.push_back(op.content);
        }
        return ops;
    }

    Doc doc;
    Handle list;
};

void pull(ListReplica& to, ListReplica& from) {
    to.doc.commit();
    from.doc.commit();
    ASSERT_TRUE(to.doc.import(from.doc.changes_since(to.doc.version())));
}

void sync(ListReplica& a, ListReplica& b) {
    pull(a, b);
    pull(b, a);
    EXPECT_EQ(a.read(), b.read());
    check_invariants(a.doc);
    check_invariants(b.doc);
}

// Two replicas that both have these elements, all made by peer 1.
struct Pair {
    explicit Pair(const List& elements) : a(1), b(2) {
        for (const Value& element : elements) a.push(element);
        sync(a, b);
    }
    ListReplica a, b;
};

// --- writes that meet: dossier 2.6 ---

TEST(MovableList, TheLaterMoveByLamportThenPeerWinsAndTheElementIsThereOnce) {
    Pair p({"a", "b", "c", "d"});
    p.a.move(0, 3);
    p.b.move(0, 1);

    sync(p.a, p.b);

    EXPECT_EQ(p.a.read(), Value(List{"b", "a", "c", "d"}));  // Same lamport; peer 2.
    p.a.move(1, 3);
    p.a.move(3, 2);
    p.b.move(1, 0);
    sync(p.a, p.b);
    EXPECT_EQ(p.a.read(), Value(List{"b", "c", "a", "d"}));  // The second move of peer 1 is later.
}

TEST(MovableList, AMoveWinsOverADeleteWhateverTheirLamports) {
    for (const bool deleter_is_later : {false, true}) {
        Pair p({"a", "b", "c"});
        ListReplica& deleter = deleter_is_later ? p.b : p.a;
        ListReplica& mover = deleter_is_later ? p.a : p.b;
        deleter.insert(0, "more");
        deleter.erase(1, 1);
        mover.move(0, 2);

        sync(p.a, p.b);

        EXPECT_EQ(p.a.read(), Value(List{"more", "b", "c", "a"}));
    }
}

TEST(MovableList, ADeleteWinsOverASet) {
    Pair p({"a", "b"});
    p.a.erase(0, 1);
    p.b.set(0, "changed");
    p.b.set(0, "again");

    sync(p.a, p.b);

    EXPECT_EQ(p.a.read(), Value(List{"b"}));
}

TEST(MovableList, ADeleteAfterAMoveWinsOverALowerMove) {
    Pair p({"a", "b", "c"});
    p.b.move(0, 2);
    p.b.erase(2, 1);
    p.a.move(0, 1);

    sync(p.a, p.b);

    EXPECT_EQ(p.a.read(), Value(List{"b", "c"}));
}

TEST(MovableList, TheLaterSetWinsAndAMoveKeepsTheValue) {
    Pair p({"a", "b", "c"});
    p.a.set(0, "of one");
    p.b.set(0, "of two");
    p.a.move(0, 2);

    sync(p.a, p.b);

    EXPECT_EQ(p.a.read(), Value(List{"b", "c", "of two"}));
}

TEST(MovableList, AnElementThatWasMovedBackLivesOnWhereItWas) {
    Pair p({"a", "b", "c"});
    p.a.move(0, 2);
    p.a.move(2, 0);
    p.b.insert(1, "new");
    sync(p.a, p.b);
    EXPECT_EQ(p.a.read().as_list().size(), 4U);
    EXPECT_EQ(p.a.read().as_list()[0], Value("a"));
}

// --- what local edits write: as Loro does ---

// "a" was moved by both: two slots, of which the one behind "d" shows nothing.
struct Unseen : Pair {
    Unseen() : Pair({"a", "b", "c", "d"}) {
        a.move(0, 3);
        b.move(0, 1);
        sync(a, b);
        from = a.doc.version();
        EXPECT_EQ(a.read(), Value(List{"b", "a", "c", "d"}));
    }
    VersionVector from;
};

TEST(MovableList, OpsCountSlotsThatShowNothing) {
    Unseen p;
    p.a.push("end");
    p.a.insert(3, "before d");

    const auto ops = p.a.ops_since(p.from);

    ASSERT_EQ(ops.size(), 2U);
    EXPECT_EQ(std::get<ListInsert>(ops[0]).pos, 5U);
    EXPECT_EQ(std::get<ListInsert>(ops[1]).pos, 3U);
    EXPECT_EQ(p.a.read(), Value(List{"b", "a", "c", "before d", "d", "end"}));
    sync(p.a, p.b);
}

TEST(MovableList, ADeleteLeavesSlotsThatShowNothing) {
    Unseen p;
    p.a.push("end");
    p.a.erase(2, 3);

    const auto ops = p.a.ops_since(p.from);

    // "c" and "d" side by side, then "end" behind the slot between them.
    ASSERT_EQ(ops.size(), 3U);
    EXPECT_EQ(ops[1], OpContent(SequenceDelete{2, 2, {1, 2}}));
    EXPECT_EQ(std::get<SequenceDelete>(ops[2]).pos, 3);
    EXPECT_EQ(p.a.read(), Value(List{"b", "a"}));
    sync(p.a, p.b);
}

TEST(MovableList, AMoveNamesItsElementAndPlacesOfTheListBeforeAndAfter) {
    Pair p({"a", "b", "c", "d"});
    const VersionVector from = p.a.doc.version();
    p.a.move(0, 2);
    p.a.move(3, 1);
    p.a.move(1, 1);

    const auto ops = p.a.ops_since(from);

    ASSERT_EQ(ops.size(), 2U);
    EXPECT_EQ(ops[0], OpContent(ListMove{0, 2, {1, 0}}));
    EXPECT_EQ(ops[1], OpContent(ListMove{3, 1, {1, 3}}));
    EXPECT_EQ(p.a.read(), Value(List{"b", "d", "c", "a"}));
}

TEST(MovableList, AnEqualSetIsAnOp) {
    Pair p({"a"});
    const VersionVector from = p.a.doc.version();
    p.a.set(0, "a");
    EXPECT_EQ(p.a.ops_since(from),
              std::vector<OpContent>{OpContent(ListSet{{1, 0}, Slot(Value("a"))})});
}

TEST(MovableList, EditsBeyondTheEndAreRefused) {
    Pair p({"a", "b"});
    Doc& doc = p.a.doc;
    EXPECT_EQ(reason(doc.movable_list(p.a.list).insert(3, 1)), "out_of_bound");
    EXPECT_EQ(reason(doc.movable_list(p.a.list).erase(1, 2)), "out_of_bound");
    EXPECT_EQ(reason(doc.movable_list(p.a.list).erase(1, ~std::size_t{0})), "out_of_bound");
    EXPECT_EQ(reason(doc.movable_list(p.a.list).move(0, 2)), "out_of_bound");
    EXPECT_EQ(reason(doc.movable_list(p.a.list).move(2, 2)), "out_of_bound");
    EXPECT_EQ(reason(doc.movable_list(p.a.list).set(2, 1)), "out_of_bound");
    EXPECT_EQ(reason(doc.movable_list(p.a.list).set_container(2, ContainerKind::map)),
              "out_of_bound");
    const Handle text = doc.open(ContainerId::root("t", ContainerKind::text));
    EXPECT_EQ(reason(doc.movable_list(text).move(0, 0)), "wrong_kind");
    EXPECT_TRUE(doc.pending().empty());
}

TEST(MovableList, AnIdFindsItsElementUntilThatMovesOn) {
    Pair p({"a", "b", "c"});
    const OpId id = p.a.doc.movable_list(p.a.list).id(1);
    EXPECT_EQ(id, (OpId{1, 1}));
    p.a.insert(0, "new");
    EXPECT_EQ(p.a.doc.movable_list(p.a.list).index_of(id), 2U);
    p.a.move(2, 0);
    EXPECT_EQ(p.a.doc.movable_list(p.a.list).index_of(id), std::nullopt);
    EXPECT_EQ(p.a.doc.movable_list(p.a.list).index_of({1, 4}), 0U);
    EXPECT_EQ(p.a.doc.movable_list(p.a.list).index_of({9, 9}), std::nullopt);
}

// --- children ---

TEST(MovableList, AChildGoesWithItsElementAndEndsWithItsValue) {
    Pair p({"x"});
    const auto text = p.a.doc.movable_list(p.a.list).insert_container(0, ContainerKind::text);
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, ContainerId::normal({1, 1}, ContainerKind::text));
    const Handle child = p.a.doc.open(*text);
    ASSERT_TRUE(p.a.doc.text(child).insert({0}, "words"));
    p.a.move(0, 1);
    EXPECT_EQ(p.a.read(), Value(List{"x", "words"}));
    EXPECT_TRUE(p.a.doc.movable_list(p.a.list).get(1) == Item(*text));
    sync(p.a, p.b);

    // One writes in it while the other sets another child over it.
    ASSERT_TRUE(p.b.doc.text(p.b.doc.open(*text)).insert({0}, "more "));
    const auto map = p.a.doc.movable_list(p.a.list).set_container(1, ContainerKind::map);
    ASSERT_TRUE(map);
    ASSERT_TRUE(p.a.doc.map(p.a.doc.open(*map)).set("k", 1));
    EXPECT_FALSE(p.a.doc.is_alive(child));
    EXPECT_EQ(reason(p.a.doc.text(child).insert({0}, "no")), "container_deleted");
    sync(p.a, p.b);
    EXPECT_EQ(p.b.read(), Value(List{"x", Map{{"k", 1}}}));
    EXPECT_TRUE(p.b.doc.is_alive(p.b.doc.open(*map)));
    p.b.erase(1, 1);
    EXPECT_FALSE(p.b.doc.is_alive(p.b.doc.open(*map)));
}

TEST(MovableList, AChildReturnsWhenItsDeletedElementTurnsOutToHaveMoved) {
    Pair p({"x"});
    const auto map = p.a.doc.movable_list(p.a.list).insert_container(0, ContainerKind::map);
    sync(p.a, p.b);
    p.a.erase(0, 1);
    EXPECT_FALSE(p.a.doc.is_alive(p.a.doc.open(*map)));
    p.b.move(0, 1);
    ASSERT_TRUE(p.b.doc.map(p.b.doc.open(*map)).set("k", 1));

    sync(p.a, p.b);

    EXPECT_TRUE(p.a.doc.is_alive(p.a.doc.open(*map)));
    EXPECT_EQ(p.a.read(), Value(List{"x", Map{{"k", 1}}}));
}

// --- what is refused ---

class MovableListImport : public testing::Test {
protected:
    MovableListImport() {
        a.push("a");
        a.push("b");
        a.doc.commit();
        b.doc.open(kMovable);
    }
    // Peer 7's ops on the list, which depend on all that `a` has.
    std::string reason_of(const std::vector<OpContent>& contents, Frontiers deps) {
        Change change{{7, 0}, std::move(deps), 0, 0, "", {}};
        Counter counter = 0;
        for (const OpContent& content : contents) {
            change.ops.push_back({kMovable, counter, content});
            counter += atom_count(content);
        }
        const Value before = a.read();
        const auto imported = a.doc.import({change});
        if (imported) return "";
        EXPECT_EQ(a.read(), before);
        EXPECT_EQ(a.doc.version().end_of(7), 0);
        check_invariants(a.doc);
        return imported.error().reason();
    }
    ListReplica a{1};
    ListReplica b{2};
};

TEST_F(MovableListImport, RefusesPositionsBeyondTheEnd) {
    const Frontiers all = a.doc.frontiers();
    EXPECT_EQ(reason_of({ListMove{0, 1, {1, 0}}, ListMove{2, 0, {1, 0}}}, all), "corrupt");
    EXPECT_EQ(reason_of({ListMove{0, 2, {1, 0}}}, all), "corrupt");
    EXPECT_EQ(reason_of({ListInsert{3, {Slot(Value(1))}}}, all), "corrupt");
    EXPECT_EQ(reason_of({SequenceDelete{1, 2, {1, 1}}}, all), "corrupt");
    // Also where the op is concurrent with others.
    a.push("c");
    a.doc.commit();
    EXPECT_EQ(reason_of({ListMove{0, 2, {1, 0}}}, all), "corrupt");
    EXPECT_EQ(reason_of({ListMove{2, 0, {1, 0}}}, all), "corrupt");
    EXPECT_EQ(reason_of({ListInsert{3, {Slot(Value(1))}}}, all), "corrupt");
    EXPECT_EQ(reason_of({ListMove{1, 0, {1, 1}}, ListInsert{2, {Slot(Value(1))}}}, all), "");
    EXPECT_EQ(a.read(), Value(List{"b", "a", 1, "c"}));
}

TEST_F(MovableListImport, RefusesElementsThatItsVersionOfTheListDoesNotHave) {
    const Frontiers all = a.doc.frontiers();
    const auto set = [](ElementId element) { return ListSet{element, Slot(Value(1))}; };
    EXPECT_EQ(reason_of({set({1, 2})}, all), "corrupt");       // Not there.
    EXPECT_EQ(reason_of({set({9, 0})}, all), "corrupt");       // Nobody's.
    EXPECT_EQ(reason_of({set({1, 1})}, {{1, 0}}), "corrupt");  // Later than its version.
    EXPECT_EQ(reason_of({ListMove{0, 0, {1, 1}}}, {{1, 0}}), "corrupt");
    EXPECT_EQ(reason_of({ListMove{0, 1, {1, 0}}, set({7, 2})}, all), "corrupt");  // A move.
    ASSERT_TRUE(a.doc.list(a.doc.open(ContainerId::root("o", ContainerKind::list))).insert(0, 1));
    a.doc.commit();
    EXPECT_EQ(reason_of({set({1, 2})}, a.doc.frontiers()), "corrupt");  // It is in another list.
    EXPECT_EQ(reason_of({ListInsert{0, {Slot(Value(0))}}, set({7, 2})}, all), "");
}

TEST_F(MovableListImport, ASetOfADeletedElementIsTakenIn) {
    a.erase(0, 1);
    a.doc.commit();
    EXPECT_EQ(reason_of({ListSet{{1, 0}, Slot(Value(1))}}, a.doc.frontiers()), "");
    EXPECT_EQ(a.read(), Value(List{"b"}));
    check_invariants(a.doc);
}

// --- what is told of edits ---

List applied(List list, const ListDelta& delta) {
    std::size_t at = 0;
    for (const ListStep& step : delta) {
        if (const auto* keep = std::get_if<Retain>(&step)) at += keep->count;
        if (const auto* gone = std::get_if<Erase>(&step)) {
            const auto from = list.begin() + static_cast<std::ptrdiff_t>(at);
            list.erase(from, from + static_cast<std::ptrdiff_t>(gone->count));
        }
        if (const auto* put = std::get_if<PutItems>(&step)) {
            for (const Item& item : put->items) {
                list.insert(list.begin() + static_cast<std::ptrdiff_t>(at++),
                            std::get<Value>(item));
            }
        }
    }
    return list;
}

// The list as the diffs tell it.
struct ListShadow {
    void take(const Diff& diff) {
        for (const ContainerDiff& part : diff)
            list = applied(std::move(list), std::get<ListDelta>(part.delta));
    }
    List list;
};

TEST(MovableList, AMoveAndASetAreReportedAsAnEraseAndAnInsert) {
    ListReplica a(1);
    for (const char* element : {"a", "b", "c", "d"}) a.push(element);
    a.doc.commit();
    a.move(0, 2);
    a.set(0, "B");
    const Commit commit = a.doc.commit({.want_diff = true});
    ASSERT_EQ(commit.diff.size(), 1U);
    EXPECT_EQ(std::get<ListDelta>(commit.diff[0].delta),
              (ListDelta{Erase{2}, PutItems{{Value("B")}}, Retain{1}, PutItems{{Value("a")}}}));
    a.set(0, "B");
    EXPECT_TRUE(a.doc.commit({.want_diff = true}).diff.empty());
}

TEST(MovableList, EventsAddUpToTheList) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    std::vector<std::unique_ptr<ListReplica>> peers;
    std::vector<ListShadow> shadows(3);
    for (PeerId peer = 1; peer <= 3; ++peer) peers.push_back(std::make_unique<ListReplica>(peer));
    for (int step = 0; step < 600; ++step) {
        const std::size_t who = below(3);
        ListReplica& at = *peers[who];
        const std::size_t size = at.doc.movable_list(at.list).size();
        const std::size_t what = below(10);
        const Value value = static_cast<std::int64_t>(below(1000));
        if (size == 0 || what < 3) {
            at.insert(below(size + 1), value);
        } else if (what < 6) {
            at.move(below(size), below(size));
        } else if (what < 7) {
            at.set(below(size), value);
        } else if (what < 8) {
            at.erase(below(size), 1);
        } else {
            ListReplica& from = *peers[below(3)];
            for (std::size_t i = 0; i < 3; ++i)
                shadows[i].take(peers[i]->doc.commit({.want_diff = true}).diff);
            if (&from == &at) continue;
            auto imported =
                at.doc.import(from.doc.changes_since(at.doc.version()), {.want_diff = true});
            ASSERT_TRUE(imported);
            shadows[who].take(imported->diff);
        }
        if (below(3) > 0) continue;
        shadows[who].take(at.doc.commit({.want_diff = true}).diff);
        ASSERT_EQ(Value(shadows[who].list), at.read()) << "step " << step;
    }
}

}  // namespace
}  // namespace quire::crdt

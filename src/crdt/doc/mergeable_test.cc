// Mergeable children: made by several peers at once, hidden and shown again, in diffs and events.
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "crdt/doc/apply.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "crdt/ids/container_text.h"

namespace quire::crdt {
namespace {

const ContainerId kMap = ContainerId::root("m", ContainerKind::map);

struct Sharer {
    explicit Sharer(PeerId peer) : doc(peer) {}
    MapView map() { return doc.map(doc.open(kMap)); }
    Handle shown(std::string_view key, ContainerKind kind) {
        return doc.open(map().ensure_mergeable(key, kind).value());
    }
    void type(std::string_view key, std::string_view text) {
        ASSERT_TRUE(doc.text(shown(key, ContainerKind::text)).insert({0}, std::string(text)));
    }
    std::string value() {
        const Value all = doc.value();
        const Value* text = all.get("m") == nullptr ? nullptr : all.get("m")->get("k");
        return text == nullptr ? "-" : text->is_string() ? text->as_string() : "?";
    }
    void take(Sharer& other) {
        doc.commit();
        other.doc.commit();
        ASSERT_TRUE(doc.import(other.doc.changes_since(doc.version())));
    }
    Doc doc;
};

template <class T>
std::string outcome(const Result<T>& result) {
    return result ? "fine" : result.error().reason();
}

TEST(Mergeable, PeersWhoMakeOneAtOnceMakeTheSame) {
    Sharer a(1);
    Sharer b(2);
    a.type("k", "ada ");
    b.type("k", "bo");
    a.take(b);
    b.take(a);
    EXPECT_EQ(a.value().size(), 6U);
    EXPECT_EQ(a.doc.value(), b.doc.value());
    // The id is Loro's.
    EXPECT_EQ(to_text(*a.map().child("k")), "cid:root-\U0001F91D:$m>k:Text");
    // A second call writes nothing.
    ASSERT_TRUE(a.map().ensure_mergeable("k", ContainerKind::text));
    EXPECT_TRUE(a.doc.pending().empty());
    check_invariants(a.doc);
}

TEST(Mergeable, AHiddenChildIsNotEditedAndComesBackWithWhatItHeld) {
    Sharer a(1);
    a.type("k", "abc");
    const Handle text = a.doc.open(*a.map().child("k"));
    const Handle list = a.shown("k", ContainerKind::list);
    EXPECT_FALSE(a.doc.is_alive(text));
    EXPECT_EQ(outcome(a.doc.text(text).insert({0}, "x")), "container_deleted");
    ASSERT_TRUE(a.doc.list(list).insert(0, 1));
    ASSERT_TRUE(a.map().erase("k"));
    EXPECT_EQ(outcome(a.doc.list(list).insert(0, 2)), "container_deleted");
    a.doc.commit();
    a.shown("k", ContainerKind::text);
    EXPECT_EQ(a.value(), "abc");
    ASSERT_TRUE(a.doc.text(text).insert({3}, "d"));
    EXPECT_EQ(a.value(), "abcd");
    check_invariants(a.doc);
}

TEST(Mergeable, AChildBelowAHiddenOneIsHiddenToo) {
    Sharer a(1);
    const Handle map = a.shown("k", ContainerKind::map);
    const Handle inner =
        a.doc.open(a.doc.map(map).ensure_mergeable("in>ner/", ContainerKind::counter).value());
    ASSERT_TRUE(a.doc.counter(inner).add(2));
    EXPECT_TRUE(a.doc.is_alive(inner));
    ASSERT_TRUE(a.map().set("k", nullptr));
    EXPECT_FALSE(a.doc.is_alive(inner));
    EXPECT_EQ(outcome(a.doc.counter(inner).add(1)), "container_deleted");
    a.shown("k", ContainerKind::map);
    EXPECT_TRUE(a.doc.is_alive(inner));
}

TEST(Mergeable, AKeyThatHoldsSomethingElseIsLeftAlone) {
    Sharer a(1);
    ASSERT_TRUE(a.map().set("p", 5));
    ASSERT_TRUE(a.map().insert_container("c", ContainerKind::map));
    ASSERT_TRUE(a.map().set("n", nullptr));
    const auto before = a.doc.pending().end;
    EXPECT_EQ(outcome(a.map().ensure_mergeable("p", ContainerKind::text)), "key_taken");
    EXPECT_EQ(outcome(a.map().ensure_mergeable("c", ContainerKind::map)), "key_taken");
    EXPECT_EQ(outcome(a.map().ensure_mergeable("\xff", ContainerKind::map)), "invalid_utf8");
    EXPECT_EQ(a.doc.pending().end, before);
    EXPECT_EQ(outcome(a.map().ensure_mergeable("n", ContainerKind::text)), "fine");
}

TEST(Mergeable, DiffsShowTheChildAndAllOfIt) {
    Sharer a(1);
    a.type("k", "abc");
    a.doc.commit();
    const ContainerId text = a.map().child("k").value();
    const Frontiers shown = a.doc.frontiers();
    ASSERT_TRUE(a.map().erase("k"));
    a.doc.commit();
    const Frontiers hidden = a.doc.frontiers();

    const Diff back = a.doc.history().diff(hidden, shown).value();
    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(std::get<MapDelta>(back[0].delta)[0].item, Item(text));
    EXPECT_EQ(std::get<TextDelta>(back[1].delta), (TextDelta{PutText{"abc", {}}}));
    EXPECT_EQ(a.doc.history().diff(shown, hidden).value().size(), 1U);

    // Applied here, it comes back once, although the container still holds its text.
    ASSERT_TRUE(apply_diff(a.doc, back));
    a.doc.commit();
    EXPECT_EQ(a.value(), "abc");
    // And in a document that never had it.
    Sharer b(2);
    ASSERT_TRUE(apply_diff(b.doc, a.doc.history().diff({}, a.doc.frontiers()).value()));
    EXPECT_EQ(b.value(), "abc");
    EXPECT_EQ(b.map().child("k"), a.map().child("k"));
}

// Nothing takes the old sum away, so the counter comes back with it.
TEST(Mergeable, ADiffShowsACounterWhoseSumIsNotFinite) {
    Sharer a(1);
    const Handle counter = a.shown("k", ContainerKind::counter);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(a.doc.counter(counter).add(1e308));
    const ContainerId child = a.map().child("k").value();
    ASSERT_TRUE(a.map().erase("k"));

    ASSERT_TRUE(apply_diff(a.doc, {{kMap, MapDelta{{"k", Item(child)}}, {}}}));

    EXPECT_TRUE(a.doc.is_alive(counter));
    EXPECT_EQ(a.doc.counter(counter).value(), std::numeric_limits<double>::infinity());
}

TEST(Mergeable, EventsHaveThePathThroughTheMap) {
    Sharer a(1);
    std::vector<Event> heard;
    const Subscription all =
        subscribe_root(a.doc, [&](const Event& event) { heard.push_back(event); });
    std::size_t below = 0;
    const Subscription one = subscribe(a.doc, a.doc.open(kMap),
                                       [&](const Event& event) { below += event.diffs.size(); });
    a.type("k", "abc");
    a.doc.commit();
    ASSERT_EQ(heard.size(), 1U);
    ASSERT_EQ(heard[0].diffs.size(), 2U);
    EXPECT_EQ(heard[0].diffs[1].path, (std::vector<PathStep>{"m", "k"}));
    EXPECT_EQ(below, 2U);
    a.type("k", "x");
    a.doc.commit();
    ASSERT_EQ(heard.size(), 2U);
    ASSERT_EQ(heard[1].diffs.size(), 1U);
}

TEST(Mergeable, AHistoryThatHoldsAMapInItselfEnds) {
    // An atom in the child of a map made that map: nobody can reach either.
    Sharer a(1);
    const ContainerId map = ContainerId::normal({7, 0}, ContainerKind::map);
    const ContainerId inner = ContainerId::root("\U0001F91D:@7:0>k", ContainerKind::map);
    Change change;
    change.id = {7, 0};
    change.ops.push_back({inner, 0, MapSet{"self", ContainerKind::map}});
    ASSERT_TRUE(a.doc.import({change}));
    EXPECT_FALSE(a.doc.is_alive(a.doc.open(map)));
    EXPECT_FALSE(a.doc.is_alive(a.doc.open(inner)));
    EXPECT_EQ(a.doc.value(), Value(Map()));
    EXPECT_TRUE(a.doc.history().diff({}, a.doc.frontiers()).value().empty());
}

}  // namespace
}  // namespace quire::crdt

// Reverts go on as if nothing had happened when their notes are saved and recalled into the history
// read anew.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/undo/random_script_for_test.h"
#include "crdt/undo/undo_actor_for_test.h"

namespace quire::crdt {
namespace {

// A document, and what somebody saves who takes back its steps.
struct Saved {
    explicit Saved(PeerId peer = 1) : doc(peer) {}

    IdSpan commit() { return doc.commit().span; }
    IdSpan take_back(IdSpan step) {
        const Undone undone = revert(doc, std::vector{step}, {}, {.shared_deletes = true}).value();
        const IdSpan span = commit();
        for (const StandIn& one : stand_ins(doc, span)) notes.push_back(one);
        notes.insert(notes.end(), undone.settled.begin(), undone.settled.end());
        return span;
    }
    void reopen() {
        Doc again(doc.peer());
        EXPECT_TRUE(again.import(doc.changes_since({})));
        const auto recalled = recall(again, notes);
        EXPECT_TRUE(recalled) << recalled.error().message();
        doc = std::move(again);
    }

    Doc doc;
    std::vector<StandIn> notes;
};

TEST(Recall, AChildThatCameBackGoesOn) {
    Saved saved;
    const auto list = [&] { return saved.doc.open(ContainerId::root("l", ContainerKind::list)); };
    const auto text = [&] { return saved.doc.open(saved.doc.list(list()).child(0)); };
    EXPECT_TRUE(saved.doc.list(list()).insert_container(0, ContainerKind::text));
    saved.commit();
    EXPECT_TRUE(saved.doc.text(text()).insert({0}, "ab"));
    const IdSpan typed = saved.commit();
    EXPECT_TRUE(saved.doc.list(list()).erase(0, 1));
    saved.take_back(saved.commit());
    saved.reopen();

    const IdSpan undone = saved.take_back(typed);
    EXPECT_EQ(saved.doc.text(text()).rope().str(), "");

    saved.reopen();
    saved.take_back(undone);
    EXPECT_EQ(saved.doc.text(text()).rope().str(), "ab");
    check_invariants(saved.doc);
}

TEST(Recall, AStylePutOnTextThatCameBackIsTheOneThatItHad) {
    Saved saved;
    const auto list = [&] { return saved.doc.open(ContainerId::root("l", ContainerKind::list)); };
    const auto text = [&] { return saved.doc.open(saved.doc.list(list()).child(0)); };
    EXPECT_TRUE(saved.doc.list(list()).insert_container(0, ContainerKind::text));
    EXPECT_TRUE(saved.doc.text(text()).insert({0}, "abc"));
    saved.commit();
    EXPECT_TRUE(saved.doc.text(text()).mark({0}, {2}, "bold", true));
    const IdSpan marked = saved.commit();
    EXPECT_TRUE(saved.doc.list(list()).erase(0, 1));
    saved.take_back(saved.commit());
    saved.reopen();
    EXPECT_EQ(saved.doc.text(text()).delta(),
              (TextDelta{PutText{"ab", {{"bold", true}}}, PutText{"c"}}));

    saved.take_back(marked);

    EXPECT_EQ(saved.doc.text(text()).delta(), (TextDelta{PutText{"abc"}}));
}

TEST(Recall, AWriteThatWasSettledWithoutAnOpIsPassedOver) {
    Saved saved;
    const auto map = [&] { return saved.doc.open(ContainerId::root("m", ContainerKind::map)); };
    const auto get = [&] { return saved.doc.map(map()).get("k"); };
    EXPECT_TRUE(saved.doc.map(map()).set("k", 1));
    const IdSpan first = saved.commit();
    EXPECT_TRUE(saved.doc.map(map()).set("k", 2));
    EXPECT_TRUE(saved.doc.map(map()).set("k", 1));
    const IdSpan round = saved.commit();
    EXPECT_EQ(saved.take_back(round).size(), 0U);
    saved.reopen();

    saved.take_back(first);

    EXPECT_FALSE(get());
}

TEST(Recall, AnElementGoesBackToThePlaceAndTheValueThatItHad) {
    Saved saved;
    const auto list = [&] {
        return saved.doc.open(ContainerId::root("l", ContainerKind::movable_list));
    };
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(saved.doc.movable_list(list()).insert(i, i));
    saved.commit();
    EXPECT_TRUE(saved.doc.movable_list(list()).move(0, 2));
    EXPECT_TRUE(saved.doc.movable_list(list()).set(2, 7));
    const IdSpan moved = saved.commit();
    EXPECT_TRUE(saved.doc.movable_list(list()).erase(2, 1));
    const IdSpan erased = saved.commit();
    saved.take_back(erased);
    EXPECT_EQ(saved.doc.value(list()), Value(List{1, 2, 7}));
    saved.reopen();

    saved.take_back(moved);

    EXPECT_EQ(saved.doc.value(list()), Value(List{0, 1, 2}));
}

TEST(Recall, ImpossibleNotesAreRefused) {
    Saved saved;
    const Handle text = saved.doc.open(ContainerId::root("t", ContainerKind::text));
    EXPECT_TRUE(saved.doc.text(text).insert({0}, "abcd"));
    saved.commit();
    using As = StandIn::As;
    const std::vector<std::vector<StandIn>> wrong = {
        {{{1, 0}, {1, 2}, 3, As::atom}},   // Beyond the end.
        {{{1, 0}, {2, 0}, 1, As::atom}},   // An unknown peer.
        {{{1, 0}, {1, 2}, 0, As::atom}},   // None.
        {{{1, 2}, {1, 0}, 1, As::place}},  // The younger one first.
        {{{1, 0}, {1, 2}, 1, As::value},
         {{1, 1}, {1, 2}, 1, As::value}},  // One copy for two atoms.
        {{{1, 0}, {1, 1}, 1, As::child}},  // Not a container.
        {{{1, 0}, {1, 1}, 1, As::settled}, {{1, 1}, {1, 0}, 1, As::settled}},  // In a circle.
    };
    for (const std::vector<StandIn>& notes : wrong) {
        Doc again(1);
        EXPECT_TRUE(again.import(saved.doc.changes_since({})));
        const auto recalled = recall(again, notes);
        ASSERT_FALSE(recalled);
        EXPECT_EQ(recalled.error().code(), Errc::corrupt);
    }
}

// A history with something of each kind, twice, to be said to stand for each other.
struct Pairs : Saved {
    Pairs() {
        const auto list = open("l", ContainerKind::list);
        const auto movable = open("v", ContainerKind::movable_list);
        const auto map = open("m", ContainerKind::map);
        const auto tree = open("n", ContainerKind::tree);
        const auto text = open("t", ContainerKind::text);
        const auto made = [&](auto&& write) {
            const IdSpan span = commit();
            write();
            return OpId{1, span.size() > 0 ? span.end : doc.version().end_of(1)};
        };
        const auto child = [&](ContainerKind kind) {
            const OpId at = made([&] { EXPECT_TRUE(doc.list(list).insert_container(0, kind)); });
            return std::pair(at, doc.open(doc.list(list).child(0)));
        };
        letters = made([&] { EXPECT_TRUE(doc.text(text).insert({0}, "abcd")); });
        elements = made([&] { EXPECT_TRUE(doc.list(list).insert(0, 1)); });
        EXPECT_TRUE(doc.list(list).insert(1, 1));
        EXPECT_TRUE(doc.list(list).insert(2, 1));
        slots = made([&] { EXPECT_TRUE(doc.movable_list(movable).insert(0, 1)); });
        EXPECT_TRUE(doc.movable_list(movable).insert(1, 1));
        set = made([&] { EXPECT_TRUE(doc.movable_list(movable).set(0, 5)); });
        moved = made([&] { EXPECT_TRUE(doc.movable_list(movable).move(0, 1)); });
        key = made([&] { EXPECT_TRUE(doc.map(map).set("k", 1)); });
        other_key = made([&] { EXPECT_TRUE(doc.map(map).set("l", 1)); });
        key_again = made([&] { EXPECT_TRUE(doc.map(map).set("k", 2)); });
        key_at_last = made([&] { EXPECT_TRUE(doc.map(map).set("k", 3)); });
        key_gone = made([&] { EXPECT_TRUE(doc.map(map).erase("k")); });
        node = made([&] { EXPECT_TRUE(doc.tree(tree).create(std::nullopt)); });
        erased = made([&] { EXPECT_TRUE(doc.tree(tree).erase(node)); });
        bold = made([&] { EXPECT_TRUE(doc.text(text).mark({0}, {2}, "bold", true)); });
        link = made([&] { EXPECT_TRUE(doc.text(text).mark({0}, {2}, "link", true)); });
        std::tie(text_child, std::ignore) = child(ContainerKind::text);
        const auto [at, second] = child(ContainerKind::text);
        other_text_child = at;
        std::tie(list_child, std::ignore) = child(ContainerKind::list);
        in_text_child =
            made([&, &second = second] { EXPECT_TRUE(doc.text(second).insert({0}, "ab")); });
        commit();
    }
    Handle open(std::string_view name, ContainerKind kind) {
        return doc.open(ContainerId::root(std::string(name), kind));
    }

    // The result of recalling them into the history read anew.
    Result<void> recalled(std::vector<StandIn> pairs) const {
        Doc again(1);
        EXPECT_TRUE(again.import(doc.changes_since({})));
        return recall(again, pairs);
    }

    OpId letters, elements, slots, set, moved, key, other_key, key_again, key_at_last, key_gone,
        node, erased, bold, link, text_child, other_text_child, list_child, in_text_child;
};

// A later revert goes from an atom to its copy without checking.
TEST(Recall, AStandInHasTheContainerAndTheKindOfTheOriginal) {
    const Pairs made;
    using As = StandIn::As;
    const std::vector<StandIn> wrong = {
        {made.letters, made.elements, 1, As::atom},  // In another container.
        {made.letters, made.in_text_child, 2, As::atom},
        {made.letters, made.bold, 1, As::atom},  // A letter is no style,
        {made.slots, made.moved, 1, As::atom},   // a move makes no element,
        {made.node, made.erased, 1, As::atom},   // an erase no node.
        {made.bold, made.link, 1, As::atom},     // Another key.
        {made.bold, made.link, 1, As::style},
        {made.key, made.other_key, 1, As::atom},
        {made.key, made.other_key, 1, As::settled},
        {made.key, made.key_gone, 1, As::atom},  // A set and an erase.
        {made.key, made.key_gone, 1, As::settled},
        {made.key, made.key, 1, As::settled},
        {made.letters, {1, made.letters.counter + 1}, 1, As::settled},
        {made.elements, {1, made.elements.counter + 1}, 1, As::slot},
        {made.elements, {1, made.elements.counter + 1}, 1, As::value},
        {made.slots, made.moved, 1, As::value},  // A move gives no value,
        {made.slots, made.set, 1, As::slot},     // a value no place.
        {made.letters, {1, made.letters.counter + 1}, 1, As::style},
        {made.elements, {1, made.elements.counter + 1}, 2, As::atom},  // Partly of itself.
        {made.elements, made.slots, 3, As::place},
        {made.text_child, made.list_child, 1, As::child},
        {made.text_child, made.other_text_child, 2, As::child},
    };
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        const auto recalled = made.recalled({wrong[i]});
        ASSERT_FALSE(recalled) << i;
        EXPECT_EQ(recalled.error().code(), Errc::corrupt);
        EXPECT_TRUE(recalled.error().message().ends_with("is said to stand for is something else"));
    }
    const std::vector<StandIn> right = {
        {made.letters, {1, made.letters.counter + 2}, 2, As::atom},
        {made.elements, {1, made.elements.counter + 1}, 1, As::atom},
        {made.slots, {1, made.slots.counter + 1}, 1, As::slot},
        {made.slots, made.set, 1, As::value},
        {made.slots, made.moved, 1, As::slot},
        {made.key, made.key_again, 1, As::settled},
        {made.key_gone, made.key_gone, 1, As::settled},
        {made.node, made.erased, 1, As::value},
        {made.text_child, made.other_text_child, 1, As::child},
    };
    const auto recalled = made.recalled(right);
    EXPECT_TRUE(recalled) << recalled.error().message();
}

TEST(Recall, AContainerIsACopyOfOne) {
    const Pairs made;
    using As = StandIn::As;
    const StandIn copy{made.text_child, made.other_text_child, 1, As::child};
    EXPECT_FALSE(made.recalled({copy, copy}));
}

TEST(Recall, SettledWritesFormNoCircle) {
    const Pairs made;
    using As = StandIn::As;
    EXPECT_FALSE(made.recalled({{made.key_again, made.key, 1, As::settled},
                                {made.key_at_last, made.key_again, 1, As::settled},
                                {made.key, made.key_again, 1, As::settled}}));
}

// Two people in the same containers. One of them takes steps back; each time the same is done in
// the history read anew, with what was saved, and is to show the same.
class Reopening {
public:
    explicit Reopening(Tape& tape) : tape_(tape), actor_(1, tape), other_(2, tape) {}

    Played run(Script& script) {
        auto failure = first_failure(script, [&](Move& move) { return play(move); });
        return {std::move(failure), actor_.told};
    }

private:
    std::string play(Move& move) {
        tape_.turn_to(move.between);
        others();
        tape_.turn_to(move.choice);
        const std::size_t choice = tape_.pick(5);
        if (choice < 2) {
            if (tape_.is_random()) move.edits.resize(1 + tape_.pick(4));
            for (Draws& edit : move.edits) {
                tape_.turn_to(edit);
                actor_.edit();
            }
            const IdSpan span = actor_.doc.commit().span;
            if (span.size() == 0) return {};
            tell("commit");
            undo_.push_back(span);
            redo_.clear();
            return {};
        }
        std::vector<IdSpan>& from = choice < 4 ? undo_ : redo_;
        if (from.empty()) return {};
        tell(choice < 4 ? "undo" : "redo");
        const IdSpan step = from.back();
        from.pop_back();
        return take_back(step, choice < 4 ? redo_ : undo_);
    }

    void others() {
        const std::size_t said = other_.told.size();
        if (tape_.pick(2) == 0) other_.edit();
        other_.doc.commit();
        for (std::size_t i = said; i < other_.told.size(); ++i)
            tell(cat("the other: ", other_.told[i]));
        if (tape_.pick(3) == 0) {
            tell("import");
            EXPECT_TRUE(actor_.doc.import(other_.doc.changes_since(actor_.doc.version())));
        }
        if (tape_.pick(3) == 0) {
            tell("the other imports");
            EXPECT_TRUE(other_.doc.import(actor_.doc.changes_since(other_.doc.version())));
        }
    }

    std::string take_back(IdSpan step, std::vector<IdSpan>& other_way) {
        Actor again(1, tape_);
        EXPECT_TRUE(again.doc.import(actor_.doc.changes_since({})));
        const auto recalled = recall(again.doc, notes_);
        if (!recalled) return recalled.error().message();
        const auto revert_step = [&](Doc& doc) {
            const Undone undone =
                revert(doc, std::vector{step}, {}, {.shared_deletes = true}).value();
            return std::pair(doc.commit().span, undone.settled);
        };
        revert_step(again.doc);
        const auto [span, settled] = revert_step(actor_.doc);
        for (const StandIn& one : stand_ins(actor_.doc, span)) notes_.push_back(one);
        notes_.insert(notes_.end(), settled.begin(), settled.end());
        if (span.size() > 0) other_way.push_back(span);
        const std::string shown = text_of(again.own());
        const std::string kept = text_of(actor_.own());
        return shown == kept ? "" : cat("reopened it shows\n", shown, "\nand kept\n", kept);
    }

    void tell(std::string what) { actor_.told.push_back(std::move(what)); }

    Tape& tape_;
    Actor actor_;
    Actor other_;
    std::vector<IdSpan> undo_;
    std::vector<IdSpan> redo_;
    std::vector<StandIn> notes_;
};

TEST(RecallRandom, ARevertAfterReopeningShowsWhatOneWithoutShows) {
    play_seeds(2, 40, [](Tape& tape, Script& script) { return Reopening(tape).run(script); });
}

// Stand-ins at random, of which some are taken; and then everything is taken back, in any order.
class Lies {
public:
    explicit Lies(Tape& tape) : tape_(tape), actor_(1, tape) {}

    Played run(Script& script) {
        auto failure = first_failure(script, [&](Move& move) {
            tape_.turn_to(move.choice);
            actor_.edit();
            if (tape_.pick(4) == 0) actor_.doc.commit();
            return std::string();
        });
        actor_.doc.commit();
        Doc doc(1);
        EXPECT_TRUE(doc.import(actor_.doc.changes_since({})));
        tape_.turn_to(lies_);
        const Counter end = doc.version().end_of(1);
        for (Counter copy = 1; copy < end; ++copy) {
            for (int tries = 0; tries < 8; ++tries) {
                const auto as = static_cast<StandIn::As>(tape_.pick(7));
                const Counter of = one_of(as == StandIn::As::settled ? end : copy);
                const StandIn lie{{1, of}, {1, copy}, 1 + one_of(2), as};
                if (recall(doc, {lie})) actor_.told.push_back(cat("taken: ", of, " for ", copy));
            }
        }
        for (int i = 0; i < 40; ++i) {
            const Counter begin = one_of(doc.version().end_of(1));
            const IdSpan span{1, begin, begin + 1 + one_of(6)};
            EXPECT_TRUE(revert(doc, std::vector{span}, {}, {.shared_deletes = true}));
            if (tape_.pick(2) == 0) doc.commit();
        }
        check_invariants(doc);
        return {std::move(failure), actor_.told};
    }

private:
    Counter one_of(Counter count) {
        return static_cast<Counter>(tape_.pick(static_cast<std::size_t>(std::max(count, 1))));
    }
    Tape& tape_;
    Actor actor_;
    Draws lies_;
};

TEST(RecallRandom, NotesThatAreAcceptedNeverFailLater) {
    play_seeds(4, 30, [](Tape& tape, Script& script) { return Lies(tape).run(script); });
}

}  // namespace
}  // namespace quire::crdt

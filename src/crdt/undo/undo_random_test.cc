// Random edits of one actor, undone and redone: the document must show what it showed at that step,
// whatever came back as a copy of what, and whatever others did elsewhere meanwhile.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "crdt/doc/text.h"
#include "crdt/undo/random_script_for_test.h"
#include "crdt/undo/undo_actor_for_test.h"
#include "crdt/undo/undo_history.h"

namespace quire::crdt {
namespace {

// Steps forward and back at random, with `between` before each; what each step showed must show
// again.
template <class Between>
class Walk {
public:
    Walk(Tape& tape, Actor& actor, Between between)
        : tape_(tape),
          actor_(actor),
          between_(std::move(between)),
          history_(actor.doc, {.merge_interval_ms = 0}),
          shown_({text_of(actor.own())}) {}

    Played run(Script& script) {
        auto failure = first_failure(script, [&](Move& move) { return play(move); });
        if (!failure) check_invariants(actor_.doc);
        return {std::move(failure), actor_.told};
    }

private:
    // Returns the failure; "" for none.
    std::string play(Move& move) {
        tape_.turn_to(move.between);
        between_();
        tape_.turn_to(move.choice);
        const std::size_t choice = tape_.pick(5);
        if (choice < 2) {
            if (tape_.is_random()) move.edits.resize(1 + tape_.pick(4));
            for (Draws& edit : move.edits) {
                tape_.turn_to(edit);
                actor_.edit();
            }
            const Commit commit = actor_.doc.commit();
            if (!commit.empty()) {
                actor_.told.emplace_back("commit");
                history_.committed(commit, 0);
                shown_.resize(++at_);
                shown_.push_back(text_of(actor_.own()));
            }
        } else if (choice < 4 && at_ > 0) {
            actor_.told.emplace_back("undo");
            history_.undo(0);
            --at_;
            std::string different = compare();
            if (!different.empty()) return different;
            // A step that changed nothing is not there to be done again.
            if (shown_[at_ + 1] == shown_[at_] && history_.redo_count() + at_ + 1 < shown_.size())
                shown_.erase(shown_.begin() + static_cast<std::ptrdiff_t>(at_) + 1);
        } else if (at_ + 1 < shown_.size()) {
            actor_.told.emplace_back("redo");
            history_.redo(0);
            ++at_;
            std::string different = compare();
            if (!different.empty()) return different;
        }
        if (actor_.refused) return *actor_.refused;
        if (history_.undo_count() != at_) return cat("undo_count() is not ", at_);
        if (history_.redo_count() != shown_.size() - 1 - at_)
            return cat("redo_count() is not ", shown_.size() - 1 - at_);
        return {};
    }
    std::string compare() {
        const std::string now = text_of(actor_.own());
        return now == shown_[at_] ? "" : cat("shows\n", now, "\nand is to show\n", shown_[at_]);
    }

    Tape& tape_;
    Actor& actor_;
    Between between_;
    UndoHistory history_;
    std::vector<std::string> shown_;  // After so many steps.
    std::size_t at_ = 0;
};

TEST(UndoRandom, ShowsWhatWasShownAtEachStep) {
    play_seeds(1, 60, [](Tape& tape, Script& script) {
        Actor actor(1, tape);
        return Walk(tape, actor, [] {}).run(script);
    });
}

TEST(UndoRandom, IsNotDisturbedByOthersElsewhere) {
    play_seeds(4, 60, [](Tape& tape, Script& script) {
        Actor actor(1, tape);
        Doc other(2);
        const Handle text = other.open(ContainerId::root("other", ContainerKind::text));
        const auto others = [&] {
            EXPECT_TRUE(other.text(text).insert({0}, "x"));
            other.commit();
            if (tape.pick(2) == 0) {
                EXPECT_TRUE(actor.doc.import(other.changes_since(actor.doc.version())));
            }
            if (tape.pick(2) == 0) {
                EXPECT_TRUE(other.import(actor.doc.changes_since(other.version())));
            }
        };
        return Walk(tape, actor, others).run(script);
    });
}

// Two write in turns; the last step that stands is taken back, by who made it, or is done again. No
// styles: text that comes back has those, too, that its place got since.
class Turns {
public:
    explicit Turns(Tape& tape) : tape_(tape), actor_(1, tape) { actor_.puts_styles = false; }

    Played run(Script& script) {
        auto failure = first_failure(script, [&](Move& move) { return play(move); });
        if (!failure) check_invariants(actor_.doc);
        return {std::move(failure), actor_.told};
    }

private:
    struct Step {
        PeerId by;
        IdSpan span;
        std::string before;
        std::string after;
    };

    std::string play(Move& move) {
        tape_.turn_to(move.choice);
        const std::size_t choice = tape_.pick(5);
        if (choice < 2) return write(move);
        std::vector<Step>& from = choice < 4 ? done_ : undone_;
        std::vector<Step>& to = choice < 4 ? undone_ : done_;
        if (from.empty()) return {};
        Step step = std::move(from.back());
        from.pop_back();
        actor_.told.push_back(cat(choice < 4 ? "undo by " : "redo by ", step.by));
        actor_.doc.set_peer(step.by);
        EXPECT_TRUE(revert(actor_.doc, std::vector{step.span}));
        step.span = actor_.doc.commit().span;
        const std::string shown = text_of(actor_.own());
        const std::string& wanted = choice < 4 ? step.before : step.after;
        std::string failure =
            shown == wanted ? "" : cat("shows\n", shown, "\nand is to show\n", wanted);
        to.push_back(std::move(step));
        return failure;
    }

    std::string write(Move& move) {
        const PeerId by = 1 + tape_.pick(2);
        const std::string before = text_of(actor_.own());
        actor_.doc.set_peer(by);
        if (tape_.is_random()) move.edits.resize(1 + tape_.pick(4));
        for (Draws& edit : move.edits) {
            tape_.turn_to(edit);
            actor_.edit();
        }
        const Commit commit = actor_.doc.commit();
        if (actor_.refused) return *actor_.refused;
        if (commit.empty()) return {};
        actor_.told.push_back(cat("commit by ", by));
        done_.push_back({by, commit.span, before, text_of(actor_.own())});
        undone_.clear();
        return {};
    }

    Tape& tape_;
    Actor actor_;
    std::vector<Step> done_;
    std::vector<Step> undone_;
};

TEST(UndoRandom, OfTwoInTurnsShowsWhatWasShownAtEachStep) {
    play_seeds(1, 60, [](Tape& tape, Script& script) { return Turns(tape).run(script); });
}

// Others type into the same text: nothing of theirs goes, nothing of the actor's stays.
TEST(UndoRandom, OfEverythingLeavesTheTextOfOthersAlone) {
    play_seeds(2, 40, [](Tape& tape, Script& script) {
        Doc a(1), b(2);
        const ContainerId id = ContainerId::root("t", ContainerKind::text);
        const Handle ours = a.open(id);
        const Handle theirs = b.open(id);
        UndoHistory history(a, {.merge_interval_ms = 0});
        Played played;
        const auto tell = [&](const auto&... parts) { played.told.push_back(cat(parts...)); };
        std::size_t typed = 0;
        for (Move& move : script) {
            tape.turn_to(move.choice);
            const std::size_t size = a.text(ours).rope().code_points().n;
            if (tape.pick(3) < 2) {
                const std::size_t at = tape.pick(size + 1);
                tell("insert ", at);
                EXPECT_TRUE(a.text(ours).insert({at}, "aa"));
            } else if (size > 0) {
                // Its own letters and others'.
                const std::size_t at = tape.pick(size);
                tell("erase ", at);
                EXPECT_TRUE(a.text(ours).erase({at}, {1}));
            }
            history.committed(a.commit(), 0);
            const std::size_t at = tape.pick(b.text(theirs).rope().code_points().n + 1);
            tell("the other inserts ", at);
            EXPECT_TRUE(b.text(theirs).insert({at}, "b"));
            ++typed;
            b.commit();
            if (tape.pick(3) == 0) {
                tell("import");
                EXPECT_TRUE(a.import(b.changes_since(a.version())));
            }
            if (tape.pick(3) == 0) {
                tell("the other imports");
                EXPECT_TRUE(b.import(a.changes_since(b.version())));
            }
            if (tape.pick(4) == 0) {
                tell("undo");
                history.undo(0);
            }
            if (tape.pick(8) == 0) {
                tell("redo");
                history.redo(0);
            }
        }
        while (history.can_redo()) history.redo(0);
        EXPECT_TRUE(a.import(b.changes_since(a.version())));
        const std::string before = a.text(ours).rope().str();
        while (history.can_undo()) history.undo(0);
        const std::string undone = a.text(ours).rope().str();
        while (history.can_redo()) history.redo(0);
        EXPECT_TRUE(b.import(a.changes_since(b.version())));
        check_invariants(a);
        if (undone != std::string(typed, 'b')) {
            played.failure = cat("all undone shows ", undone);
        } else if (a.text(ours).rope().str() != before) {
            played.failure = cat("all redone shows ", a.text(ours).rope().str(), ", not ", before);
        } else if (b.text(theirs).rope().str() != before) {
            played.failure = cat("the other shows ", b.text(theirs).rope().str(), ", not ", before);
        }
        return played;
    });
}

}  // namespace
}  // namespace quire::crdt

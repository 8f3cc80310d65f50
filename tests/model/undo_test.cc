// Several actors edit, undo and redo in one document, in turns, and its program starts anew now and
// then: after every move a text, a list and a map show what the naive model shows.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "crdt/undo/random_script_for_test.h"
#include "crdt/undo/revert.h"
#include "tests/model/undo_model.h"

namespace quire::tests {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::Doc;
using crdt::Handle;
using crdt::IdSpan;
using crdt::PeerId;

constexpr std::size_t kActors = 3;

// Commits in the document and in the model.
struct Commits {
    std::vector<IdSpan> spans;
    UndoModel::Commits numbers;

    void add(const Commits& other) {
        spans.insert(spans.end(), other.spans.begin(), other.spans.end());
        numbers.insert(other.numbers.begin(), other.numbers.end());
    }
};

// The commits that the next undo or redo takes back, and those that the one after it takes back with
// that one's own, where a part was left alone. The kernel keeps the same with a unit.
struct Step {
    Commits now;
    Commits kept = {};
};

// A document, its model, and what actors may take back in them.
template <class Model>
class Table {
public:
    Table(ContainerId id, Model model) : id_(std::move(id)), model_(std::move(model)), doc_(1) {}

    template <class Edit>
    void act(std::size_t actor, Edit edit) {
        doc_.set_peer(PeerId{actor + 1});
        if (actor != last_actor_) model_.pass_turn();
        edit();
        last_actor_ = actor;
        done_[actor].push_back({commit()});
        undone_[actor].clear();
    }
    bool undo(std::size_t actor) { return go(actor, done_[actor], undone_[actor]); }
    bool redo(std::size_t actor) { return go(actor, undone_[actor], done_[actor]); }
    // The program starts anew, with what it had saved.
    void reopen() {
        Doc again(1);
        EXPECT_TRUE(again.import(doc_.changes_since({})));
        const auto recalled = crdt::recall(again, notes_);
        EXPECT_TRUE(recalled) << recalled.error().message();
        doc_ = std::move(again);
    }
    void check() const { crdt::check_invariants(doc_); }

protected:
    Handle container() { return doc_.open(id_); }

    ContainerId id_;
    Model model_;
    Doc doc_;

private:
    Commits commit() {
        const IdSpan span = doc_.commit().span;
        if (span.end % 4 == 0) doc_.fit();
        for (const crdt::StandIn& one : crdt::stand_ins(doc_, span)) notes_.push_back(one);
        return {{span}, {model_.commit()}};
    }
    bool go(std::size_t actor, std::vector<Step>& from, std::vector<Step>& to) {
        if (from.empty()) return false;
        Step step = std::move(from.back());
        from.pop_back();
        doc_.set_peer(PeerId{actor + 1});
        const auto undone =
            crdt::revert(doc_, step.now.spans, {}, {.shared_deletes = shares(model_)});
        EXPECT_TRUE(undone);
        model_.take_back(step.now.numbers);
        const Commits made = commit();
        if (made.spans.front().size() > 0) last_actor_ = actor;
        notes_.insert(notes_.end(), undone->settled.begin(), undone->settled.end());
        Step next{std::move(step.kept)};
        if (undone->skipped > 0 || !next.now.spans.empty()) {
            next.kept = std::move(step.now);
            next.kept.add(made);
        }
        next.now.add(made);
        to.push_back(std::move(next));
        return true;
    }
    static bool shares(const UndoModel& model) { return model.shares_deletes(); }
    static bool shares(const UndoMapModel&) { return false; }

    std::vector<crdt::StandIn> notes_;
    std::size_t last_actor_ = kActors;  // Nobody yet.
    std::array<std::vector<Step>, kActors> done_;
    std::array<std::vector<Step>, kActors> undone_;
};

// A table with a text or a list.
class SequenceTable : public Table<UndoModel> {
public:
    SequenceTable(ContainerKind kind, bool shared_deletes)
        : Table(ContainerId::root("c", kind), UndoModel(shared_deletes)) {}

    void insert(std::size_t actor, std::size_t at, const std::string& letters) {
        act(actor, [&] { put(at, letters); });
    }
    void erase(std::size_t actor, std::size_t at, std::size_t count) {
        act(actor, [&] { cut(at, count); });
    }
    void replace(std::size_t actor, std::size_t at, std::size_t count, const std::string& letters) {
        act(actor, [&] {
            cut(at, count);
            put(at, letters);
        });
    }
    // One edit at random; what it was.
    std::string edit(crdt::Tape& tape, std::size_t actor) {
        const std::size_t size = model_.shown().size();
        const std::size_t at = tape.pick(size + 1);
        const std::size_t count = std::min(size - at, 1 + tape.pick(4));
        const std::size_t choice = tape.pick(9);
        std::string letters;
        if (choice < 6 || count == 0) {
            for (std::size_t n = 1 + tape.pick(3); n > 0; --n)
                letters += static_cast<char>('a' + next_++ % 26);
        }
        if (choice < 4 || count == 0) {
            insert(actor, at, letters);
            return cat("insert(", actor, ", ", at, ", \"", letters, "\")");
        }
        if (choice < 6) {
            replace(actor, at, count, letters);
            return cat("replace(", actor, ", ", at, ", ", count, ", \"", letters, "\")");
        }
        erase(actor, at, count);
        return cat("erase(", actor, ", ", at, ", ", count, ")");
    }

    std::string wanted() const { return model_.shown(); }
    std::string read() {
        const Handle c = container();
        if (id_.kind == ContainerKind::text) return doc_.text(c).rope().str();
        std::string read;
        for (std::size_t i = 0; i < doc_.list(c).size(); ++i)
            read += std::get<Value>(doc_.list(c).get(i)).as_string();
        return read;
    }

private:
    void put(std::size_t at, const std::string& letters) {
        model_.insert(at, letters);
        const Handle c = container();
        if (id_.kind == ContainerKind::text) {
            EXPECT_TRUE(doc_.text(c).insert({at}, letters));
            return;
        }
        for (const char letter : letters)
            EXPECT_TRUE(doc_.list(c).insert(at++, std::string(1, letter)));
    }
    void cut(std::size_t at, std::size_t count) {
        model_.erase(at, count);
        const Handle c = container();
        if (id_.kind == ContainerKind::text) {
            EXPECT_TRUE(doc_.text(c).erase({at}, {count}));
        } else {
            EXPECT_TRUE(doc_.list(c).erase(at, count));
        }
    }

    std::size_t next_ = 0;
};

class MapTable : public Table<UndoMapModel> {
public:
    MapTable() : Table(ContainerId::root("c", ContainerKind::map), UndoMapModel()) {}

    void set(std::size_t actor, char key, char value) {
        act(actor, [&] {
            model_.set(key, value);
            EXPECT_TRUE(doc_.map(container()).set(std::string(1, key), std::string(1, value)));
        });
    }
    void erase(std::size_t actor, char key) {
        act(actor, [&] {
            model_.erase(key);
            EXPECT_TRUE(doc_.map(container()).erase(std::string(1, key)));
        });
    }
    std::string edit(crdt::Tape& tape, std::size_t actor) {
        const char key = static_cast<char>('a' + tape.pick(2));
        if (model_.has(key) && tape.pick(3) == 0) {
            erase(actor, key);
            return cat("erase(", actor, ", '", std::string(1, key), "')");
        }
        // To set what is there is no write.
        if (model_.shows(key, next_value())) ++next_;
        const char value = next_value();
        ++next_;
        set(actor, key, value);
        return cat("set(", actor, ", '", std::string(1, key), "', '", std::string(1, value), "')");
    }

    std::string wanted() const { return model_.shown(); }
    std::string read() {
        std::string read;
        for (const std::string& key : doc_.map(container()).keys())
            read += key + std::get<Value>(*doc_.map(container()).get(key)).as_string();
        return read;
    }

private:
    char next_value() const { return static_cast<char>('0' + next_ % 10); }

    std::size_t next_ = 0;
};

// One script: its moves at random.
template <class Table>
crdt::Played play(crdt::Tape& tape, crdt::Script& script, Table table) {
    std::vector<std::string> moves;
    auto failure = crdt::first_failure(script, [&](crdt::Move& move) -> std::string {
        tape.turn_to(move.choice);
        const std::size_t actor = tape.pick(kActors);
        const std::size_t choice = tape.pick(16);
        std::string what;
        if (choice < 9) {
            what = table.edit(tape, actor);
        } else if (choice < 13) {
            if (table.undo(actor)) what = cat("undo(", actor, ")");
        } else if (choice < 15) {
            if (table.redo(actor)) what = cat("redo(", actor, ")");
        } else if (tape.pick(4) == 0) {
            table.reopen();
            what = "reopen()";
        }
        const std::string shown = table.read();
        if (!what.empty()) moves.push_back(cat(what, ";  // ", shown));
        const std::string wanted = table.wanted();
        return shown == wanted ? "" : cat("shows '", shown, "' and is to show '", wanted, "'");
    });
    if (!failure) table.check();
    return {std::move(failure), moves};
}

constexpr std::size_t kMoves = 24;

TEST(UndoModel, TextShowsWhatTheModelShows) {
    crdt::play_seeds(1, kMoves, [](crdt::Tape& tape, crdt::Script& script) {
        return play(tape, script, SequenceTable(ContainerKind::text, false));
    });
}

TEST(UndoModel, ListShowsWhatTheModelShows) {
    crdt::play_seeds(1, kMoves, [](crdt::Tape& tape, crdt::Script& script) {
        return play(tape, script, SequenceTable(ContainerKind::list, false));
    });
}

TEST(UndoModel, TextShowsWhatTheModelShowsWhereDeletesAreShared) {
    crdt::play_seeds(1, kMoves, [](crdt::Tape& tape, crdt::Script& script) {
        return play(tape, script, SequenceTable(ContainerKind::text, true));
    });
}

TEST(UndoModel, MapShowsWhatTheModelShows) {
    crdt::play_seeds(1, kMoves, [](crdt::Tape& tape, crdt::Script& script) {
        return play(tape, script, MapTable());
    });
}

// Expects that the document and the model both show this.
template <class Table>
void expect_shown(Table& table, std::string_view shown) {
    EXPECT_EQ(table.read(), shown);
    EXPECT_EQ(table.wanted(), shown);
}

// --- scripts that once went wrong ---

TEST(UndoModel, ALineComesBackBeforeWhatWasAddedBehindItsCopy) {
    SequenceTable table(ContainerKind::text, false);
    table.insert(0, 0, "first.");
    table.replace(0, 0, 5, "second");
    table.erase(0, 0, 7);
    table.undo(0);
    table.insert(1, 7, "of ada.");

    table.undo(0);

    expect_shown(table, "first.of ada.");
}

TEST(UndoModel, ALastLineWithoutItsEndComesBackBeforeWhatAnotherAppended) {
    SequenceTable table(ContainerKind::text, false);
    table.insert(0, 0, "first");
    table.replace(0, 0, 5, "second");
    table.insert(1, 6, ".of ada");

    table.undo(0);

    expect_shown(table, "first.of ada");
}

TEST(UndoModel, ADeleteThatWasRedoneInVainLeavesWhatAnotherShowedAgain) {
    SequenceTable table(ContainerKind::text, false);
    table.insert(0, 0, "abc");
    table.erase(1, 1, 1);
    table.insert(0, 1, "d");
    table.undo(1);
    table.erase(2, 1, 2);
    table.redo(1);
    table.undo(2);

    table.undo(1);

    EXPECT_EQ(table.read(), table.wanted());
}

TEST(UndoModel, ALetterWhoseCopiesWereDeletedTooComesBackOnce) {
    SequenceTable table(ContainerKind::text, true);
    table.insert(1, 0, "ab");
    table.replace(0, 0, 1, "c");
    table.undo(1);
    table.redo(1);
    table.replace(2, 0, 2, "d");
    table.undo(2);
    table.undo(1);

    table.redo(1);

    expect_shown(table, "cb");
}

TEST(UndoModel, AWriteIsDoneAgainWhereTheOneBelowItWasTakenBackToo) {
    MapTable table;
    table.set(1, 'a', '0');
    table.set(0, 'a', '1');
    table.undo(0);
    table.undo(1);

    table.redo(0);

    expect_shown(table, "a1");
}

TEST(UndoModel, AWriteIsNotDoneAgainOverAnEraseThatWasDoneAgain) {
    MapTable table;
    table.set(2, 'a', '0');
    table.erase(1, 'a');
    table.undo(1);
    table.undo(2);
    table.redo(1);

    table.redo(2);

    expect_shown(table, "");
}

TEST(UndoModel, AWriteThatWasDoneAgainIsTakenBackOnceMoreWithoutShowingAnother) {
    MapTable table;
    table.set(1, 'b', '0');
    table.set(0, 'b', '1');
    table.undo(1);
    table.redo(1);
    table.undo(0);
    table.undo(1);
    table.redo(1);

    table.undo(1);

    expect_shown(table, "");
}

TEST(UndoModel, AnEraseThatWasDoneAgainHidesTheWriteAfterAnotherIsTakenBack) {
    MapTable table;
    table.set(0, 'a', '0');
    table.erase(1, 'a');
    table.undo(1);
    table.erase(2, 'a');
    table.undo(2);
    table.redo(1);
    table.redo(2);

    table.undo(1);

    expect_shown(table, "");
}

TEST(UndoModel, AnEraseThatWasDoneAgainInVainCanBeTakenBack) {
    MapTable table;
    table.set(2, 'a', '0');
    table.erase(1, 'a');
    table.undo(1);
    table.undo(2);
    table.redo(1);
    table.undo(1);

    table.redo(2);

    expect_shown(table, "a0");
}

TEST(UndoModel, AWriteIsDoneAgainOnceNobodyElsesStands) {
    MapTable table;
    table.set(2, 'a', '0');
    table.set(2, 'a', '1');
    table.undo(2);
    table.undo(2);
    table.set(0, 'a', '2');
    table.redo(2);
    table.undo(0);

    table.redo(2);

    expect_shown(table, "a1");
}

}  // namespace
}  // namespace quire::tests

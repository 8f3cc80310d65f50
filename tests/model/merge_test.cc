// Random editing by several peers: our document, its replicas and the naive model agree at every
// meeting.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/undo/revert.h"
#include "json/json.h"
#include "tests/model/edit_style.h"
#include "tests/model/edit_tree.h"
#include "tests/model/model.h"
#include "tests/model/model_style.h"

namespace quire {
namespace {

using namespace crdt;

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
    const char* given = std::getenv(name);
    return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

class Peers {
public:
    Peers(std::uint64_t seed, std::size_t count) : checks_(seed % 2 == 0), random_(seed) {
        for (std::size_t i = 0; i < count; ++i)
            docs_.push_back(std::make_unique<Doc>(10 * (i + 1)));
    }

    void step() {
        Doc& doc = *docs_[below(docs_.size())];
        switch (below(12)) {
            case 0:
                exchange();
                break;
            case 1:
                foreign_change(doc);
                break;
            case 2:
                take_back(doc);
                break;
            default:
                for (std::size_t i = below(4) + 1; i > 0; --i) edit(doc);
                if (below(3) > 0) {
                    doc.commit(
                        {.message = below(4) == 0 ? "note" : "", .want_diff = below(2) == 0});
                    if (below(4) == 0) doc.fit();
                }
        }
        if (!checks_) return;
        for (const auto& each : docs_) crdt::check_invariants(*each);
    }

    // Everybody gets everything, in an order of their own.
    void meet() {
        for (auto& doc : docs_) doc->commit();
        for (auto& to : docs_) {
            for (auto& from : docs_) give(*from, *to, false);
        }
        const std::vector<Change> all = docs_[0]->changes_since({}).changes();
        const Value expected = model::replay(all);
        const ContainerId text = ContainerId::root("text", ContainerKind::text);
        const TextDelta styled = model::styled(all, text);
        for (auto& doc : docs_) {
            crdt::check_invariants(*doc);
            EXPECT_EQ(docs_[0]->version(), doc->version());
            EXPECT_EQ(docs_[0]->frontiers(), doc->frontiers());
            ASSERT_TRUE(model::same_history(doc->changes_since({}).changes(), all));
            ASSERT_TRUE(doc->value() == expected) << json::write(doc->value()) << "\n"
                                                  << json::write(expected);
            ASSERT_TRUE(doc->text(doc->open(text)).delta() == styled);
        }
    }

private:
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

    static ContainerId root(ContainerKind kind) {
        static constexpr const char* kNames[] = {"map", "list", "text", "tree", "moves", "sum"};
        return ContainerId::root(kNames[static_cast<std::size_t>(kind)], kind);
    }

    ContainerKind any_kind() {
        static constexpr ContainerKind kKinds[] = {
            ContainerKind::text, ContainerKind::list,         ContainerKind::map,
            ContainerKind::tree, ContainerKind::movable_list, ContainerKind::counter};
        return kKinds[below(6)];
    }

    std::string words() {
        static constexpr const char* kAlphabet[] = {
            "a", "b", "c", "\n", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
        std::string out;
        for (std::size_t i = below(4) + 1; i > 0; --i) out += kAlphabet[below(7)];
        return out;
    }

    // A container of this kind: a root, or a child that somebody made.
    Handle pick(Doc& doc, ContainerKind kind) {
        std::vector<ContainerId> found{root(kind)};
        for (const ContainerId& child : children_) {
            if (child.kind == kind && doc.is_alive(doc.open(child))) found.push_back(child);
        }
        return doc.open(below(2) == 0 ? found[0] : found[below(found.size())]);
    }

    void edit(Doc& doc) {
        const ContainerKind kind = below(5) < 2 ? ContainerKind::text : any_kind();
        const Handle at = pick(doc, kind);
        if (kind == ContainerKind::text) {
            if (below(6) == 0) return edit_styles(doc, at, [&](std::size_t n) { return below(n); });
            const std::size_t size = doc.text(at).rope().code_points().n;
            const std::size_t pos = below(4) == 0 ? below(size + 1) : std::min(size, last_);
            if (below(5) < 3 || size == 0) {
                ASSERT_TRUE(doc.text(at).insert({pos}, words()));
                last_ = pos + 1;
            } else {
                const std::size_t from = std::min(pos, size - 1);
                ASSERT_TRUE(doc.text(at).erase({from}, {std::min(size - from, below(3) + 1)}));
                last_ = from > 0 && below(2) == 0 ? from - 1 : from;  // Backspaces too.
            }
        } else if (kind == ContainerKind::list) {
            const std::size_t size = doc.list(at).size();
            const std::size_t pos = below(size + 1);
            if (below(4) == 0) {
                children_.push_back(*doc.list(at).insert_container(pos, any_kind()));
            } else if (below(3) > 0 || size == 0) {
                ASSERT_TRUE(doc.list(at).insert(pos, static_cast<std::int64_t>(below(100))));
            } else {
                const std::size_t from = below(size);
                const OpId id = doc.list(at).id(from);
                ASSERT_EQ(doc.list(at).index_of(id), from);
                ASSERT_TRUE(doc.list(at).erase(from, std::min(size - from, below(3) + 1)));
            }
        } else if (kind == ContainerKind::tree) {
            const auto made = edit_tree(doc, at, [&](std::size_t n) { return below(n); });
            if (made) children_.push_back(*made);
        } else if (kind == ContainerKind::movable_list) {
            edit_movable(doc, at);
        } else if (kind == ContainerKind::counter) {
            const auto quarters = static_cast<double>(below(64)) - 32;
            const double sum = doc.counter(at).value() + quarters / 4;
            ASSERT_EQ(*doc.counter(at).add(quarters / 4), sum);
        } else {
            const std::string key(1, static_cast<char>('a' + below(4)));
            const std::size_t what = below(6);
            if (what == 0) {
                ASSERT_TRUE(doc.map(at).erase(key));
            } else if (what == 1) {
                children_.push_back(*doc.map(at).insert_container(key, any_kind()));
            } else {
                ASSERT_TRUE(doc.map(at).set(key, static_cast<std::int64_t>(below(5))));
            }
        }
    }

    void edit_movable(Doc& doc, Handle at) {
        const std::size_t size = doc.movable_list(at).size();
        const std::size_t what = below(12);
        const auto number = static_cast<std::int64_t>(below(100));
        if (size == 0 || what < 3) {
            const std::size_t pos = below(size + 1);
            ASSERT_TRUE(doc.movable_list(at).insert(pos, number));
            ASSERT_TRUE(doc.movable_list(at).get(pos) == Item(Value(number)));
        } else if (what < 7) {
            const std::size_t from = below(size);
            const std::size_t to = below(size);
            const Item item = doc.movable_list(at).get(from);
            ASSERT_TRUE(doc.movable_list(at).move(from, to));
            ASSERT_TRUE(doc.movable_list(at).get(to) == item);
            ASSERT_EQ(doc.movable_list(at).index_of(doc.movable_list(at).id(to)), to);
        } else if (what == 7) {
            children_.push_back(
                *doc.movable_list(at).insert_container(below(size + 1), any_kind()));
        } else if (what == 8) {
            children_.push_back(*doc.movable_list(at).set_container(below(size), any_kind()));
        } else if (what < 11) {
            ASSERT_TRUE(doc.movable_list(at).set(below(size), number));
        } else {
            const std::size_t from = below(size);
            ASSERT_TRUE(doc.movable_list(at).erase(from, std::min(size - from, below(3) + 1)));
            ASSERT_LT(doc.movable_list(at).size(), size);
        }
    }

    // Writes ops that only other programs write: styles, backward deletes of any place, several ops
    // in one change.
    void foreign_change(Doc& doc) {
        doc.commit();
        const ContainerId text = root(ContainerKind::text);
        const std::size_t known = entities(doc, text);
        Change change;
        change.id = {1000 + foreign_++, 0};
        change.deps = doc.frontiers();
        Counter counter = 0;
        std::size_t size = known;
        for (std::size_t i = below(3) + 1; i > 0; --i) {
            const std::size_t at = below(size + 1);
            if (below(3) == 0) {
                const std::size_t end = at + below(size + 1 - at);
                change.ops.push_back(
                    {text, counter,
                     StyleStart{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end),
                                "bold", true, 0x84}});
                change.ops.push_back({text, counter + 1, StyleEnd{}});
                size += 2;
                counter += 2;
            } else if (below(2) == 0 && at < size) {
                const auto len =
                    static_cast<std::int32_t>(std::min<std::size_t>(at + 1, below(3) + 1));
                change.ops.push_back(
                    {text, counter, SequenceDelete{static_cast<std::int32_t>(at), -len, {4, 2}}});
                size -= static_cast<std::size_t>(len);
                counter += len;
            } else {
                const std::string what = words();
                change.ops.push_back(
                    {text, counter, TextInsert{static_cast<std::uint32_t>(at), what}});
                counter += atom_count(change.ops.back().content);
                size += static_cast<std::size_t>(atom_count(change.ops.back().content));
            }
        }
        const auto imported = doc.import({change});
        ASSERT_TRUE(imported) << imported.error().message();
        EXPECT_TRUE(same_atoms(
            doc.changes_in(std::vector{IdSpan{change.id.peer, 0, counter}}).changes().at(0).ops,
            change.ops));
    }

    // Characters and anchors of the text now, by the model: what a position may be.
    static std::size_t entities(Doc& doc, const ContainerId& text) {
        // Deleting anchors is legal for others, so they cannot simply be counted: ask for the
        // longest legal insertion.
        std::size_t low = doc.text(doc.open(text)).rope().code_points().n;
        for (std::size_t high = low + 64; high > low; --high) {
            Doc copy(5);
            const auto history = doc.changes_since({}).changes();
            if (!copy.import(history, {.want_diff = false})) continue;
            if (copy.import({{{6, 0},
                              doc.frontiers(),
                              0,
                              0,
                              "",
                              {{text, 0, TextInsert{static_cast<std::uint32_t>(high), "x"}}}}})) {
                return high;
            }
        }
        return low;
    }

    void take_back(Doc& doc) {
        doc.commit();
        const Counter end = doc.version().end_of(doc.peer());
        if (end == 0) return;
        const auto from = static_cast<Counter>(below(static_cast<std::size_t>(end)));
        const auto to = std::min(end, from + static_cast<Counter>(below(6)) + 1);
        ASSERT_TRUE(revert(doc, std::vector{IdSpan{doc.peer(), from, to}}));
        doc.commit();
    }

    void exchange() {
        Doc& from = *docs_[below(docs_.size())];
        Doc& to = *docs_[below(docs_.size())];
        give(from, to, true);
    }

    void give(Doc& from, Doc& to, bool partly) {
        if (&from == &to) return;
        from.commit();
        to.commit();
        std::vector<Change> changes =
            from.changes_since(below(4) == 0 ? VersionVector{} : to.version()).changes();
        if (partly) {
            std::vector<Change> cut;
            for (const Change& change : changes) {
                const Counter atoms = atom_count(change);
                const auto at = static_cast<Counter>(below(static_cast<std::size_t>(atoms) + 1));
                if (at > 0) cut.push_back(slice(change, 0, at));
                if (at < atoms && below(3) > 0) cut.push_back(slice(change, at, atoms));
            }
            std::shuffle(cut.begin(), cut.end(), random_);
            changes = std::move(cut);
        }
        const auto imported = to.import(changes, {.want_diff = below(2) == 0});
        ASSERT_TRUE(imported) << imported.error().message();
    }

    // Checking builds what is else built late or never, so every other script does without.
    bool checks_;
    std::mt19937_64 random_;
    std::vector<std::unique_ptr<Doc>> docs_;
    std::vector<ContainerId> children_;
    std::size_t last_ = 0;
    PeerId foreign_ = 0;
};

TEST(Merge, RandomPeersAgreeWithTheNaiveModelAtEveryMeeting) {
    const bool is_long = std::getenv("QUIRE_LONG") != nullptr;
    const std::uint64_t seed = number_from("SEED", std::random_device{}());
    // With wide nodes and with narrow ones, each.
    const std::uint64_t runs = number_from("QUIRE_STEPS", is_long ? 10000 : 500 / kRoundsShare);
    std::printf("SEED=%llu QUIRE_STEPS=%llu\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(runs));
    for (std::uint64_t run = 0; run < runs; ++run) {
        SCOPED_TRACE("SEED=" + std::to_string(seed + run) + " QUIRE_STEPS=1");
        Peers peers(seed + run, 2 + (seed + run) % 3);
        // The model takes the cube of a history's length: many short ones, and some long.
        const int steps = (seed + run) % 16 < 2 ? 20 : 6;
        for (int meeting = 0; meeting < 3; ++meeting) {
            for (int i = 0; i < steps; ++i) peers.step();
            peers.meet();
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

}  // namespace
}  // namespace quire

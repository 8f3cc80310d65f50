// Random edits of one actor, undone and redone: the document must show what it showed at that step,
// whatever came back as a copy of what, and whatever others did elsewhere meanwhile.
#include <algorithm>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "crdt/doc/undo.h"
#include "crdt/ids/container_text.h"

namespace quire::crdt {
namespace {

// Histories to walk through: SEED is the first of them, QUIRE_STEPS how many.
struct Seeds {
    unsigned first = from("SEED", 1);
    unsigned count = from("QUIRE_STEPS", std::getenv("QUIRE_LONG") != nullptr ? 20000 : 1000);

private:
    static unsigned from(const char* name, unsigned otherwise) {
        const char* given = std::getenv(name);
        return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                : otherwise;
    }
};

template <class Walk>
void for_each_seed(unsigned share, Walk walk) {
    const Seeds seeds;
    for (unsigned i = 0; i < std::max(1U, seeds.count / share); ++i) {
        SCOPED_TRACE(testing::Message() << "SEED=" << seeds.first + i << " QUIRE_STEPS=1");
        walk(seeds.first + i);
        if (testing::Test::HasFatalFailure()) return;
    }
}

class Actor {
public:
    explicit Actor(unsigned seed) : random_(seed), doc(1), history(doc, {.merge_interval_ms = 0}) {}

    std::size_t pick(std::size_t n) { return random_() % n; }

    Handle root(ContainerKind kind) { return doc.open(ContainerId::root(to_text(kind), kind)); }
    // Those of the kind that are alive: a root, and children.
    std::vector<Handle> containers(ContainerKind kind) {
        std::vector<Handle> found = {root(kind)};
        for (const ContainerKind parent : {ContainerKind::map, ContainerKind::list,
                                           ContainerKind::movable_list, ContainerKind::tree})
            collect(root(parent), kind, found);
        return found;
    }
    Handle container(ContainerKind kind) {
        const std::vector<Handle> found = containers(kind);
        return found[pick(found.size())];
    }

    void edit() {
        switch (pick(24)) {
            case 0:
            case 1: {
                const Handle text = container(ContainerKind::text);
                const std::size_t at = pick(doc.text(text).code_points().n + 1);
                EXPECT_TRUE(doc.text_insert(text, {at}, pick(2) == 0 ? "ab" : "é😀x"));
                return;
            }
            case 2: {
                const Handle text = container(ContainerKind::text);
                const std::size_t size = doc.text(text).code_points().n;
                const std::size_t at = pick(size + 1);
                EXPECT_TRUE(
                    doc.text_erase(text, {at}, {pick(std::min<std::size_t>(size - at, 4) + 1)}));
                return;
            }
            case 3: {
                const Handle list = container(ContainerKind::list);
                EXPECT_TRUE(doc.list_insert(list, pick(doc.list_size(list) + 1),
                                            static_cast<std::int64_t>(pick(100))));
                return;
            }
            case 4: {
                const Handle list = container(ContainerKind::list);
                if (doc.list_size(list) == 0) return;
                EXPECT_TRUE(doc.list_erase(list, pick(doc.list_size(list)), 1));
                return;
            }
            case 5: {
                const Handle list = container(ContainerKind::list);
                EXPECT_TRUE(doc.list_insert_container(list, pick(doc.list_size(list) + 1), kind()));
                return;
            }
            case 6:
            case 7:
            case 8:
                EXPECT_TRUE(doc.map_set(container(ContainerKind::map), key(),
                                        static_cast<std::int64_t>(pick(5))));
                return;
            case 9:
            case 10:
            case 11:
            case 12: {
                const Handle tree = container(ContainerKind::tree);
                const std::vector<TreeNode> nodes = doc.tree_nodes(tree);
                const auto node = [&]() -> std::optional<OpId> {
                    if (nodes.empty() || pick(3) == 0) return std::nullopt;
                    return nodes[pick(nodes.size())].id;
                };
                const std::size_t choice = pick(5);
                if (nodes.empty() || choice < 2) {
                    const OpId made = doc.tree_create(tree, node()).value();
                    const Handle meta = doc.open(doc.tree_meta(tree, made).value());
                    if (pick(2) == 0) {
                        EXPECT_TRUE(doc.map_set(meta, "k", static_cast<std::int64_t>(pick(9))));
                    }
                    return;
                }
                const OpId chosen = nodes[pick(nodes.size())].id;
                if (choice == 2) {
                    EXPECT_TRUE(doc.tree_erase(tree, chosen));
                } else if (choice == 3) {
                    const Handle meta = doc.open(doc.tree_meta(tree, chosen).value());
                    EXPECT_TRUE(doc.map_set(meta, "k", static_cast<std::int64_t>(pick(9))));
                } else {
                    (void)doc.tree_move(tree, chosen, node());  // Refused where it is a cycle.
                }
                return;
            }
            case 13:
            case 14: {
                const Handle list = container(ContainerKind::movable_list);
                EXPECT_TRUE(doc.mlist_insert(list, pick(doc.mlist_size(list) + 1),
                                             static_cast<std::int64_t>(pick(100))));
                return;
            }
            case 15:
            case 16:
            case 17: {
                const Handle list = container(ContainerKind::movable_list);
                const std::size_t size = doc.mlist_size(list);
                if (size == 0) return;
                const std::size_t at = pick(size);
                switch (pick(4)) {
                    case 0:
                        EXPECT_TRUE(doc.mlist_erase(list, at,
                                                    1 + pick(std::min<std::size_t>(size - at, 2))));
                        return;
                    case 1:
                        EXPECT_TRUE(doc.mlist_set(list, at, static_cast<std::int64_t>(pick(100))));
                        return;
                    case 2:
                        EXPECT_TRUE(doc.mlist_set_container(list, at, kind()));
                        return;
                    default:
                        EXPECT_TRUE(doc.mlist_move(list, at, pick(size)));
                        return;
                }
            }
            case 18:
                EXPECT_TRUE(doc.counter_add(container(ContainerKind::counter),
                                            static_cast<double>(pick(9)) / 4));
                return;
            case 19:
            case 20:
            case 21: {
                const Handle text = container(ContainerKind::text);
                const std::size_t size = doc.text(text).code_points().n;
                if (size == 0) return;
                const std::size_t begin = pick(size);
                const std::size_t end = begin + 1 + pick(size - begin);
                const std::string style = std::array{"bold", "link", "comment"}[pick(3)];
                if (pick(3) == 0) {
                    EXPECT_TRUE(doc.text_unmark(text, {begin}, {end}, style));
                } else {
                    EXPECT_TRUE(doc.text_mark(text, {begin}, {end}, style,
                                              static_cast<std::int64_t>(pick(3))));
                }
                return;
            }
            case 22:
                EXPECT_TRUE(doc.map_erase(container(ContainerKind::map), key()));
                return;
            default:
                EXPECT_TRUE(doc.map_insert_container(container(ContainerKind::map), key(), kind()));
        }
    }

    // What the actor has made: its own roots.
    Value own() {
        Map own;
        for (const ContainerKind kind :
             {ContainerKind::text, ContainerKind::list, ContainerKind::map, ContainerKind::tree,
              ContainerKind::movable_list, ContainerKind::counter})
            own.set(to_text(kind), doc.value(root(kind)));
        List styled;
        for (const Handle text : containers(ContainerKind::text)) {
            for (const TextStep& step : doc.text_delta(text)) {
                const PutText& part = std::get<PutText>(step);
                styled.push_back(List{part.text, part.attributes});
            }
        }
        own.set("styled", std::move(styled));
        return own;
    }

private:
    std::string key() { return std::string(1, static_cast<char>('a' + pick(3))); }
    // Of a child.
    ContainerKind kind() {
        return std::array{
            ContainerKind::text, ContainerKind::list,         ContainerKind::map,
            ContainerKind::tree, ContainerKind::movable_list, ContainerKind::counter}[pick(6)];
    }
    void collect(Handle in, ContainerKind kind, std::vector<Handle>& found) {
        std::vector<ContainerId> children;
        switch (doc.id_of(in).kind) {
            case ContainerKind::map:
                for (const std::string& key : doc.map_keys(in)) {
                    if (const auto child = doc.map_child(in, key)) children.push_back(*child);
                }
                break;
            case ContainerKind::list:
                for (std::size_t i = 0; i < doc.list_size(in); ++i) {
                    if (std::holds_alternative<ContainerKind>(doc.list_get(in, i)))
                        children.push_back(doc.list_child(in, i));
                }
                break;
            case ContainerKind::movable_list:
                for (std::size_t i = 0; i < doc.mlist_size(in); ++i) {
                    const Item item = doc.mlist_get(in, i);
                    if (const auto* child = std::get_if<ContainerId>(&item))
                        children.push_back(*child);
                }
                break;
            case ContainerKind::tree:
                for (const TreeNode& node : doc.tree_nodes(in))
                    children.push_back(*doc.tree_meta(in, node.id));
                break;
            case ContainerKind::text:
            case ContainerKind::counter:
                break;
        }
        for (const ContainerId& child : children) {
            const Handle handle = doc.open(child);
            if (child.kind == kind) found.push_back(handle);
            collect(handle, kind, found);
        }
    }

    std::mt19937 random_;

public:
    Doc doc;
    UndoHistory history;
};

// For people to compare.
std::string text_of(const Value& value) {
    if (value.is_map()) {
        std::vector<std::string> entries;
        // A node of a tree that was brought back with its container has another id.
        const bool is_node = value.get("fractional_index") != nullptr;
        for (const auto& [key, inside] : value.as_map()) {
            if (is_node && key == "id") continue;
            entries.push_back(key + ": " + text_of(inside));
        }
        std::sort(entries.begin(), entries.end());
        std::string text = "{";
        for (const std::string& entry : entries) text += entry + ", ";
        return text + "}";
    }
    if (value.is_list()) {
        std::string text = "[";
        for (const Value& inside : value.as_list()) text += text_of(inside) + ", ";
        return text + "]";
    }
    if (value.is_string()) return '"' + value.as_string() + '"';
    if (value.is_float()) return std::to_string(value.as_float());
    return value.is_int() ? std::to_string(value.as_int()) : "null";
}

// Steps forward and back at random, with `between` before each; what each step showed must show
// again.
template <class Between>
void walk(Actor& actor, Between between) {
    std::vector<Value> shown = {actor.own()};  // After so many steps.
    std::size_t at = 0;
    for (int i = 0; i < 60; ++i) {
        between();
        const std::size_t choice = actor.pick(5);
        if (choice < 2) {
            for (std::size_t edits = 1 + actor.pick(4); edits > 0; --edits) actor.edit();
            const Commit commit = actor.doc.commit();
            if (commit.empty()) continue;
            actor.history.committed(commit, 0);
            shown.resize(++at);
            shown.push_back(actor.own());
        } else if (choice < 4 && at > 0) {
            actor.history.undo(0);
            ASSERT_EQ(text_of(actor.own()), text_of(shown[--at])) << "step " << i;
            // A step that changed nothing is not there to be done again.
            if (text_of(shown[at + 1]) == text_of(shown[at]) &&
                actor.history.redo_count() + at + 1 < shown.size())
                shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        } else if (at + 1 < shown.size()) {
            actor.history.redo(0);
            ASSERT_EQ(text_of(actor.own()), text_of(shown[++at])) << "step " << i;
        }
        ASSERT_EQ(actor.history.undo_count(), at);
        ASSERT_EQ(actor.history.redo_count(), shown.size() - 1 - at);
    }
    actor.doc.check_invariants();
}

TEST(UndoRandom, ShowsWhatWasShownAtEachStep) {
    for_each_seed(1, [](unsigned seed) {
        Actor actor(seed);
        walk(actor, [] {});
    });
}

TEST(UndoRandom, IsNotDisturbedByOthersElsewhere) {
    for_each_seed(4, [](unsigned seed) {
        Actor actor(seed);
        Doc other(2);
        const Handle text = other.open(ContainerId::root("other", ContainerKind::text));
        walk(actor, [&] {
            EXPECT_TRUE(other.text_insert(text, {0}, "x"));
            other.commit();
            if (actor.pick(2) == 0) {
                EXPECT_TRUE(actor.doc.import(other.changes_since(actor.doc.version())));
            }
            if (actor.pick(2) == 0) {
                EXPECT_TRUE(other.import(actor.doc.changes_since(other.version())));
            }
        });
    });
}

// Others type into the same text: nothing of theirs goes, nothing of the actor's stays.
TEST(UndoRandom, OfEverythingLeavesTheTextOfOthersAlone) {
    for_each_seed(2, [](unsigned seed) {
        std::mt19937 random(seed);
        const auto pick = [&](std::size_t n) { return random() % n; };
        Doc a(1), b(2);
        const ContainerId id = ContainerId::root("t", ContainerKind::text);
        const Handle ours = a.open(id);
        const Handle theirs = b.open(id);
        UndoHistory history(a, {.merge_interval_ms = 0});
        std::size_t typed = 0;
        for (int i = 0; i < 40; ++i) {
            const std::size_t size = a.text(ours).code_points().n;
            if (pick(3) < 2) {
                EXPECT_TRUE(a.text_insert(ours, {pick(size + 1)}, "aa"));
            } else if (size > 0) {
                // Its own letters and others'.
                EXPECT_TRUE(a.text_erase(ours, {pick(size)}, {1}));
            }
            history.committed(a.commit(), 0);
            EXPECT_TRUE(b.text_insert(theirs, {pick(b.text(theirs).code_points().n + 1)}, "b"));
            ++typed;
            b.commit();
            if (pick(3) == 0) {
                EXPECT_TRUE(a.import(b.changes_since(a.version())));
            }
            if (pick(3) == 0) {
                EXPECT_TRUE(b.import(a.changes_since(b.version())));
            }
            if (pick(4) == 0) history.undo(0);
            if (pick(8) == 0) history.redo(0);
        }
        while (history.can_redo()) history.redo(0);
        EXPECT_TRUE(a.import(b.changes_since(a.version())));
        const std::string before = a.text(ours).str();
        std::size_t undone = 0;
        while (history.can_undo()) undone += history.undo(0) ? 1 : 0;
        ASSERT_EQ(a.text(ours).str(), std::string(typed, 'b'));
        while (history.can_redo()) history.redo(0);
        ASSERT_EQ(a.text(ours).str(), before) << undone << " steps";
        EXPECT_TRUE(b.import(a.changes_since(b.version())));
        ASSERT_EQ(b.text(theirs).str(), before);
        a.check_invariants();
    });
}

}  // namespace
}  // namespace quire::crdt

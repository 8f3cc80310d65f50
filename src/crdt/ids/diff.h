// Diffs: the difference between two versions of a document, container by container, as a reader
// sees it.
//
// Commits, imports and checkouts report one, and one can be asked for between any two versions.
// Diffs know no atoms and no positions that count style anchors: text counts code points.
//
// A delta of a sequence is a list of steps over the old content, as in Quill: keep so many, erase
// so many, put these. For "hello" that becomes "help!":
//
//     [ Retain 3, Erase 2, PutText "p!" ]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "crdt/ids/change.h"

namespace quire::crdt {

// The content of a slot for a reader: a plain value, or a child container by its id.
using Item = std::variant<Value, ContainerId>;

// The steps of a delta, from the beginning on. Everything after the last step is kept. `attributes`
// are a text's styles, sorted by key: in a Retain those that change, null for a removed one.
struct Retain {
    std::size_t count = 0;
    Map attributes = {};
    friend bool operator==(const Retain&, const Retain&) = default;
};
// Removes the next `count` positions.
struct Erase {
    std::size_t count = 0;
    friend bool operator==(const Erase&, const Erase&) = default;
};
// Inserts text with these styles.
struct PutText {
    std::string text;
    Map attributes = {};
    friend bool operator==(const PutText&, const PutText&) = default;
};
// Inserts items of a list.
struct PutItems {
    std::vector<Item> items;
    friend bool operator==(const PutItems&, const PutItems&) = default;
};

using TextStep = std::variant<Retain, PutText, Erase>;
using TextDelta = std::vector<TextStep>;
// The steps of lists and movable lists. A move is an erase and an insert of the same item.
using ListStep = std::variant<Retain, PutItems, Erase>;
using ListDelta = std::vector<ListStep>;

// One changed key with its new item; no item means that the key is gone.
struct MapChange {
    std::string key;
    std::optional<Item> item;
    friend bool operator==(const MapChange&, const MapChange&) = default;
};
// The changed keys, sorted.
using MapDelta = std::vector<MapChange>;

// One step of a tree's delta. Steps are applied in order: an index counts the children of the
// parent as the steps before left them. No parent means the root.
struct TreeAction {
    // The three things that can happen to a node.
    enum class Kind { create, move, erase };
    Kind kind = Kind::create;
    OpId target;
    std::optional<OpId> parent;      // create, move
    std::size_t index = 0;           // create, move
    Bytes position;                  // create, move: the fractional index
    std::optional<OpId> old_parent;  // move, erase
    std::size_t old_index = 0;       // move, erase
    friend bool operator==(const TreeAction&, const TreeAction&) = default;
};
using TreeDelta = std::vector<TreeAction>;

// The amount by which a counter changed.
struct CounterDelta {
    double increment = 0;
    friend bool operator==(const CounterDelta&, const CounterDelta&) = default;
};

using Delta = std::variant<TextDelta, ListDelta, MapDelta, TreeDelta, CounterDelta>;
// Returns true if it changes nothing.
bool is_empty(const Delta& delta);

// The path from the root: the root's name, then keys of maps, indexes of lists, nodes of trees.
using PathStep = std::variant<std::string, std::size_t, OpId>;

// The difference of one container.
struct ContainerDiff {
    ContainerId container;
    // The alternative fits the container's kind; lists and movable lists share ListDelta.
    Delta delta;
    std::vector<PathStep> path = {};  // Set in events only.
};
// The differences of all changed containers. Parents come before their children.
// A container that appears comes with all that it holds; one that is gone is left out.
using Diff = std::vector<ContainerDiff>;

// Appends to a delta. Joins the last step if it is of the same kind, and does nothing for a count
// of 0. finish() drops a retain at the end.
template <class Steps>
void retain(Steps& delta, std::size_t count, const Map& attributes = {}) {
    if (count == 0) return;
    if (!delta.empty()) {
        auto* last = std::get_if<Retain>(&delta.back());
        if (last != nullptr && last->attributes == attributes) {
            last->count += count;
            return;
        }
    }
    delta.push_back(Retain{count, attributes});
}
// Appends an erasure of `count` positions, joined with the last step if that is one too.
template <class Steps>
void erase(Steps& delta, std::size_t count) {
    if (count == 0) return;
    if (!delta.empty()) {
        if (auto* last = std::get_if<Erase>(&delta.back())) {
            last->count += count;
            return;
        }
    }
    delta.push_back(Erase{count});
}
// Appends an insertion; joins the last step if it is one of the same kind with the same styles.
void put(TextDelta& delta, std::string_view text, const Map& attributes = {});
void put(ListDelta& delta, Item item);
// Drops a retain at the end of a delta.
template <class Steps>
void finish(Steps& delta) {
    while (!delta.empty()) {
        const auto* last = std::get_if<Retain>(&delta.back());
        if (last == nullptr || !last->attributes.empty()) return;
        delta.pop_back();
    }
}

}  // namespace quire::crdt

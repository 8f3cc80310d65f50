// What readers see of a version that is not the latest. Checking out moves nothing: history and
// live state stay where they are and go on, and what is asked of a version is worked out then,
// once.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "crdt/history/oplog.h"
#include "crdt/history/past.h"
#include "crdt/ids/version.h"
#include "seq/rope.h"

namespace quire::crdt {

// An element that a movable list shows: the atom that placed it, and that which gave its value.
struct MovableItem {
    Lv slot;
    Lv value;
};

// What is known of which containers a version shows, that is, which can be reached from a root.
struct Reach {
    const Past* at = nullptr;  // Null is the latest; then nothing may be edited meanwhile.
    std::unordered_map<ContainerIndex, bool> alive = {};
    // Movable lists: the atoms that gave the shown elements their values.
    std::unordered_map<ContainerIndex, std::unordered_set<Lv>> shown = {};
};

// A detached document's version, and what readers have asked of it so far. References into it stay
// good while it lives.
struct View {
    explicit View(Past shown) : past(std::move(shown)), reach{&past} {}
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    ~View() = default;

    const Past past;
    Reach reach;
    std::optional<VersionVector> version;
    std::unordered_map<ContainerIndex, seq::Rope> texts;
    std::unordered_map<ContainerIndex, std::vector<Lv>> lists;  // The visible atoms, in order.
    std::unordered_map<ContainerIndex, std::vector<MovableItem>> movable;
};

}  // namespace quire::crdt

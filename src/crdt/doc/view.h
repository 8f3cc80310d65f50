// View: the version that readers of a detached document see. Checking out moves nothing: history
// and live state stay where they are and go on. An answer about the version is worked out when it
// is asked for, once.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "crdt/doc/movable_body.h"
#include "crdt/history/oplog.h"
#include "crdt/history/past.h"
#include "crdt/ids/version.h"
#include "seq/rope.h"

namespace quire::crdt {

class DocBody;

// The containers that can be reached from a root at a version, as far as somebody asked.
struct Reach {
    const Past* at = nullptr;  // Null is the latest; then nothing may be edited meanwhile.
    std::unordered_map<ContainerIndex, bool> alive = {};
    // Movable lists: the atoms that gave the shown elements their values.
    std::unordered_map<ContainerIndex, std::unordered_set<Lv>> shown = {};
};

// A detached document's version, and the answers about it so far. References into it stay good
// while it lives.
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

// The version that readers see.
const VersionVector& shown_version(DocBody& body);
const Heads& shown_heads(const DocBody& body);
// Shows a version as a checkout, with an event. CHECKs that no transaction is pending. (time.cc)
void go(DocBody& body, std::optional<Past> version);

}  // namespace quire::crdt

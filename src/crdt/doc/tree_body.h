// TreeBody: a forest of nodes. It knows the moves and the tree that they make, both at one version,
// which follows whoever asks. Neither exists before something asks, so that a tree that is only
// carried costs its log alone.
#pragma once

#include <memory>

#include "base/value.h"
#include "crdt/doc/site.h"
#include "crdt/history/past.h"
#include "crdt/ids/change.h"

namespace quire::crdt {

class OpLog;
struct TreeParts;

struct TreeBody : Underived {
    TreeBody();
    TreeBody(const TreeBody&) = delete;
    TreeBody& operator=(const TreeBody&) = delete;
    ~TreeBody();

    std::unique_ptr<TreeParts> parts;

    // The tree at a version; a null `at` means after every op. O(moves between the two versions).
    TreeParts& tree(Site site, const Past* at);
    // Returns true if the node is alive at the version.
    bool holds(Site site, OpId node, const Past* at);
    Value value(Site site, int depth, const Past* at);
    // Returns true if the map that is named after a node is below it. Ops may place a node that nobody
    // made, or that is named after an atom of another container: a map of such a name is reached
    // some other way or not at all, may hold itself, and may stand in many trees.
    static bool has_meta(const OpLog& log, const Container& tree, OpId node);
    // Returns true if an op of the tree made the node.
    static bool makes(const OpLog& log, const Container& tree, OpId node);

    TreeDelta delta_of(Site site, LvSpan span, const Past& a, const Past& b);
    TreeDelta delta_between(Site site, const Past& a, const Past& b);
    TreeDelta delta_from_nothing(Site site, const Past* at);

    bool holds_child(Site site, Lv creator);
    bool holds_child(Site site, Lv creator, Reach& reach);
    PathStep step_to(Site site, Lv creator);

    // Writes a TreeCreate, TreeMove or TreeErase.
    void write(Site site, OpContent op);

    void check(Site site);
};

}  // namespace quire::crdt

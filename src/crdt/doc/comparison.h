// Comparison: what lies between two versions, over all containers.
//
// A container that both versions show is reported with what changed in it; one that only the later
// shows, with all that it holds; one that the later does not show is left out, and so is what lies
// deeper than values nest. Parents come first.
#pragma once

#include <unordered_map>
#include <vector>

#include "crdt/doc/body.h"
#include "crdt/doc/view.h"

namespace quire::crdt {

class Comparison {
public:
    // Compares any two versions.
    Comparison(DocBody& body, const Past& a, const Past& b);
    // Compares the version `a` before the log's last ops, `span`, with the version `b` after them.
    // Costs those ops where a container's ops tell their effect by themselves.
    Comparison(DocBody& body, const Past& a, const Past& b, LvSpan span);

    Diff diff();

private:
    Delta delta_of(Container& c);
    bool was_alive(Container& c);
    bool is_touched(ContainerIndex index) const;
    // A container that a delta puts somewhere: one that was not there before, or perhaps one that
    // was elsewhere.
    struct Child {
        ContainerId id;
        bool is_new;
        std::size_t depth;
    };
    // With what is new below it.
    void add(Container& c, std::size_t depth, Delta delta);
    // Adds the difference of the container itself. Puts its new children on `children`, the first
    // one last.
    void add_one(Container& c, std::size_t depth, Delta delta, std::vector<Child>& children);
    // 0 for a root. Requires that the container can be reached.
    std::size_t depth(const Container& c);

    DocBody& body_;
    const Past& a_;
    const Past& b_;
    Reach in_a_;
    Reach in_b_;
    std::optional<LvSpan> span_;
    std::vector<ContainerIndex> touched_;  // Ascending.
    struct Found {
        std::size_t depth;
        ContainerDiff diff;
    };
    std::vector<Found> found_;
    std::unordered_map<ContainerIndex, std::size_t> depths_;
};

// The effect of the ops of `span`, the log's last; `before` are the heads before them.
Diff diff_of(DocBody& body, LvSpan span, Heads before);

}  // namespace quire::crdt

// A search tree by the caller's order, in which neither side of a node weighs more than kMostOf times
// the other; the weight of a subtree is one more than its nodes. After an insert or an erase the path
// to the top is balanced on the way up, by one rotation or two at a node: with these two numbers that
// suffices, as Hirai and Yamamoto prove. The walk knows the weight of the side that it comes from
// and that of the node, so it looks at the other side only where it rotates.
#include "crdt/state/siblings.h"

#include <algorithm>

#include "base/check.h"

namespace quire::crdt {

namespace {

// Neither side of a node weighs more than so many times the other.
constexpr std::size_t kMostOf = 3;
// A heavy side whose inner part weighs less than so many times its outer part rises as a whole.
constexpr std::size_t kInnerMost = 2;

}  // namespace

void Siblings::make_room(std::size_t count) {
    if (links_.size() < count) links_.resize(count);
}

// The link that points at the node: in the one that it hangs on, or in the tree node whose child it is.
NodeIndex& Siblings::slot_of(NodeIndex parent, NodeIndex node) {
    const NodeIndex up = links_[node].up;
    if (up == kNowhere) return links_[parent].top;
    return links_[up].left == node ? links_[up].left : links_[up].right;
}

void Siblings::attach(NodeIndex parent, NodeIndex node, NodeIndex up) {
    Links& links = links_[node];
    links.left = kNowhere;
    links.right = kNowhere;
    links.up = up;
    links.size = 1;
    std::size_t weight = 2;  // The weight of the side that has grown: only it can be too heavy.
    for (NodeIndex below = node, at = up; at != kNowhere; at = links_[below].up) {
        const std::size_t size = ++links_[at].size;
        below = weight <= kMostOf * (size + 1 - weight) ? at : lightened(parent, at, below);
        weight = size + 1;
    }
}

NodeIndex Siblings::lightened(NodeIndex parent, NodeIndex node, NodeIndex heavy) {
    const bool is_left = links_[node].left == heavy;
    const NodeIndex inner = is_left ? links_[heavy].right : links_[heavy].left;
    const NodeIndex outer = is_left ? links_[heavy].left : links_[heavy].right;
    if (size(inner) + 1 < kInnerMost * (size(outer) + 1)) {
        rise(parent, heavy);
        return heavy;
    }
    rise(parent, inner);
    rise(parent, inner);
    return inner;
}

void Siblings::rise(NodeIndex parent, NodeIndex node) {
    const NodeIndex up = links_[node].up;
    slot_of(parent, up) = node;
    links_[node].up = links_[up].up;
    const bool is_left = links_[up].left == node;
    NodeIndex& inner = is_left ? links_[node].right : links_[node].left;
    (is_left ? links_[up].left : links_[up].right) = inner;
    if (inner != kNowhere) links_[inner].up = up;
    inner = up;
    links_[up].up = node;
    links_[node].size = links_[up].size;
    links_[up].size =
        static_cast<std::uint32_t>(1 + size(links_[up].left) + size(links_[up].right));
}

// The next one takes the place of a node with two children: it is the first on the right, so it has
// one child at most, which takes its own place.
void Siblings::erase(NodeIndex parent, NodeIndex node) {
    if (links_[node].left == kNowhere || links_[node].right == kNowhere) {
        detach(parent, node);
    } else {
        const NodeIndex heir = next(node);
        detach(parent, heir);
        slot_of(parent, node) = heir;
        Links& links = links_[heir];
        links.left = links_[node].left;
        links.right = links_[node].right;
        links.up = links_[node].up;
        links.size = links_[node].size;
        for (const NodeIndex child : {links.left, links.right})
            if (child != kNowhere) links_[child].up = heir;
    }
    links_[node].size = 0;
    if (node == ends_.first) ends_.first = kNowhere;
    if (node == ends_.last) ends_.last = kNowhere;
}

void Siblings::detach(NodeIndex parent, NodeIndex node) {
    NodeIndex below = links_[node].left != kNowhere ? links_[node].left : links_[node].right;
    NodeIndex at = links_[node].up;
    slot_of(parent, node) = below;
    if (below != kNowhere) links_[below].up = at;
    std::size_t weight = size(below) + 1;  // The weight of the side that has shrunk.
    for (; at != kNowhere; at = links_[below].up) {
        const std::size_t size = --links_[at].size;
        if (size + 1 - weight <= kMostOf * weight) {
            below = at;
        } else {
            const Links& links = links_[at];
            below = lightened(parent, at, links.left == below ? links.right : links.left);
        }
        weight = size + 1;
    }
}

// Walks down by the sizes of the subtrees.
NodeIndex Siblings::at(NodeIndex parent, std::size_t index) const {
    NodeIndex at = links_[parent].top;
    for (;;) {
        CHECK(at != kNowhere);
        const std::size_t before = size(links_[at].left);
        if (index == before) return at;
        if (index < before) {
            at = links_[at].left;
        } else {
            index -= before + 1;
            at = links_[at].right;
        }
    }
}

// Walks up and adds everything to the left.
std::size_t Siblings::index_of(NodeIndex node) const {
    std::size_t index = size(links_[node].left);
    for (NodeIndex at = node; links_[at].up != kNowhere; at = links_[at].up) {
        const NodeIndex up = links_[at].up;
        if (links_[up].right == at) index += size(links_[up].left) + 1;
    }
    return index;
}

NodeIndex Siblings::first(NodeIndex parent) const {
    NodeIndex at = links_[parent].top;
    while (at != kNowhere && links_[at].left != kNowhere) at = links_[at].left;
    return at;
}

NodeIndex Siblings::next(NodeIndex node) const {
    if (links_[node].right != kNowhere) {
        NodeIndex at = links_[node].right;
        while (links_[at].left != kNowhere) at = links_[at].left;
        return at;
    }
    NodeIndex at = node;
    while (links_[at].up != kNowhere && links_[links_[at].up].right == at) at = links_[at].up;
    return links_[at].up;
}

void Siblings::check_invariants(NodeIndex parent) const {
    if (links_[parent].top == kNowhere) return;
    CHECK(links_[links_[parent].top].up == kNowhere);
    std::size_t seen = 0;
    for (NodeIndex node = first(parent); node != kNowhere; node = next(node)) {
        const Links& links = links_[node];
        CHECK(links.size == 1 + size(links.left) + size(links.right));
        const auto [less, more] = std::minmax({size(links.left) + 1, size(links.right) + 1});
        CHECK(more <= kMostOf * less);
        for (const NodeIndex child : {links.left, links.right})
            CHECK(child == kNowhere || links_[child].up == node);
        CHECK(index_of(node) == seen && at(parent, seen) == node);
        ++seen;
    }
    CHECK(seen == count(parent));
}

}  // namespace quire::crdt

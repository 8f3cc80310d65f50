// A treap is a search tree by the caller's order and a heap by priority at once. The priorities are
// hashes of node numbers, so they need no memory and the shape is the same whenever the same nodes
// are in, which is as shallow as that of a random tree: O(log siblings) expected.
#include "crdt/state/siblings.h"

#include "base/check.h"

namespace quire::crdt {

namespace {

// Numbers as good as random: Stafford's variant of MurmurHash3's finisher.
std::uint64_t priority(NodeIndex node) {
    std::uint64_t mixed = node + std::uint64_t{0x9E3779B97F4A7C15};
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31U);
}

}  // namespace

void Siblings::make_room(std::size_t count) {
    if (links_.size() < count) links_.resize(count);
}

// The link that points at the node: in its treap parent, or in the tree node whose child it is.
NodeIndex& Siblings::slot_of(NodeIndex parent, NodeIndex node) {
    const NodeIndex up = links_[node].up;
    if (up == kNowhere) return links_[parent].top;
    return links_[up].left == node ? links_[up].left : links_[up].right;
}

// Links the node in as a leaf and lets it rise by its priority.
void Siblings::attach(NodeIndex parent, NodeIndex node, NodeIndex up) {
    Links& links = links_[node];
    links.left = kNowhere;
    links.right = kNowhere;
    links.up = up;
    links.size = 1;
    for (NodeIndex at = up; at != kNowhere; at = links_[at].up) ++links_[at].size;
    while (links_[node].up != kNowhere && priority(node) > priority(links_[node].up))
        rise(parent, node);
}

// Rotates the node above its parent in the treap.
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

// Rotates the node down until it has at most one child, which then takes its place.
void Siblings::erase(NodeIndex parent, NodeIndex node) {
    while (links_[node].left != kNowhere && links_[node].right != kNowhere) {
        const NodeIndex left = links_[node].left;
        const NodeIndex right = links_[node].right;
        rise(parent, priority(left) > priority(right) ? left : right);
    }
    const NodeIndex child = links_[node].left != kNowhere ? links_[node].left : links_[node].right;
    slot_of(parent, node) = child;
    if (child != kNowhere) links_[child].up = links_[node].up;
    for (NodeIndex at = links_[node].up; at != kNowhere; at = links_[at].up) --links_[at].size;
    links_[node].size = 0;
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
        for (const NodeIndex child : {links.left, links.right}) {
            if (child == kNowhere) continue;
            CHECK(links_[child].up == node && priority(child) < priority(node));
        }
        CHECK(index_of(node) == seen && at(parent, seen) == node);
        ++seen;
    }
    CHECK(seen == count(parent));
}

}  // namespace quire::crdt

// The tree's nodes are anchors, in order; each has a gap (the characters between it and the anchor
// before) and three sums over its subtree: anchors, anchors that hold text back, and characters. A
// position in any unit is found by one walk down that adds up what lies to the left. An insert or
// delete of characters changes one gap and the sums above it. Comparing two anchors (earlier) would
// need a walk too, so each node also stores its path from the root as a number; rotations renumber
// the nodes below them, which is cheap because weight-balanced trees seldom rotate large subtrees.

#include "crdt/state/anchors.h"

#include "base/check.h"

namespace quire::crdt {

// --- positions ---

// Walks up from the node and adds everything to its left.
Anchors::Before Anchors::before(Node node) const {
    const Entry& self = nodes_[node];
    Before passed{count(self.left), characters(self.left) + self.gap, holding(self.left)};
    for (Node child = node, at = self.parent; at != kNone; child = at, at = nodes_[at].parent) {
        const Entry& entry = nodes_[at];
        if (entry.right != child) continue;
        passed.anchors += count(entry.left) + 1;
        passed.characters += characters(entry.left) + entry.gap;
        passed.holding += holding(entry.left) + (entry.holds_back ? 1 : 0);
    }
    return passed;
}

template <class Reached>
Anchors::Node Anchors::find(Reached reached, Before& passed) const {
    Node found = kNone;
    Before at{};
    passed = {count(root_), characters(root_), holding(root_)};
    for (Node node = root_; node != kNone;) {
        const Entry& entry = nodes_[node];
        const Before here{at.anchors + count(entry.left),
                          at.characters + characters(entry.left) + entry.gap,
                          at.holding + holding(entry.left)};
        if (reached(here)) {
            found = node;
            passed = here;
            node = entry.left;
        } else {
            at = {here.anchors + 1, here.characters, here.holding + (entry.holds_back ? 1 : 0)};
            node = entry.right;
        }
    }
    return found;
}

// Counts the holding anchors before `rank` and walks down to the one behind them.
Anchors::Node Anchors::next_holding(std::uint32_t rank) const {
    Before passed;
    find([&](const Before& at) { return at.anchors >= rank; }, passed);
    // The first anchor whose rank among those that hold back is one higher.
    const std::uint32_t wanted = passed.holding + 1;
    Node node = root_;
    std::uint32_t seen = 0;
    while (node != kNone) {
        const Entry& entry = nodes_[node];
        const std::uint32_t here = seen + holding(entry.left) + (entry.holds_back ? 1 : 0);
        if (seen + holding(entry.left) >= wanted) {
            node = entry.left;
        } else if (here >= wanted) {
            return node;
        } else {
            seen = here;
            node = entry.right;
        }
    }
    return kNone;
}

// Several anchors may stand at the place. Text goes before the first of them that holds it back,
// since that one and all behind it are to stay behind the text; if none does, it goes behind all.
std::uint32_t Anchors::insertion(std::uint32_t code_point) const {
    Before passed;
    const Node first = find([&](const Before& at) { return at.characters >= code_point; }, passed);
    if (first == kNone || passed.characters > code_point) return code_point + passed.anchors;
    const Node holding = next_holding(passed.anchors);
    if (holding != kNone) {
        const Before at = before(holding);
        if (at.characters == code_point) return code_point + at.anchors;
    }
    return character(code_point);
}

std::uint32_t Anchors::character(std::uint32_t code_point) const {
    Before passed;
    find([&](const Before& at) { return at.characters > code_point; }, passed);
    return code_point + passed.anchors;
}

std::uint32_t Anchors::code_point(std::uint32_t entity) const {
    return entity - count_in(0, entity);
}

// The difference of the ranks at both ends.
std::uint32_t Anchors::count_in(std::uint32_t entity, std::uint32_t len) const {
    const auto before_entity = [&](std::uint32_t position) {
        Before passed;
        find([&](const Before& at) { return at.characters + at.anchors >= position; }, passed);
        return passed.anchors;
    };
    const std::uint32_t end = before_entity(entity + len);
    return entity == 0 ? end : end - before_entity(entity);
}

// --- anchors in order ---

Anchors::Node Anchors::first() const {
    Node node = root_;
    while (node != kNone && nodes_[node].left != kNone) node = nodes_[node].left;
    return node;
}

Anchors::Node Anchors::last() const {
    Node node = root_;
    while (node != kNone && nodes_[node].right != kNone) node = nodes_[node].right;
    return node;
}

// Down to the left of the right subtree, else up to the first ancestor on the right.
Anchors::Node Anchors::next(Node node) const {
    if (nodes_[node].right != kNone) {
        node = nodes_[node].right;
        while (nodes_[node].left != kNone) node = nodes_[node].left;
        return node;
    }
    while (nodes_[node].parent != kNone && nodes_[nodes_[node].parent].right == node)
        node = nodes_[node].parent;
    return nodes_[node].parent;
}

Anchors::Node Anchors::with_characters(std::uint32_t code_point) const {
    Before passed;
    return find([&](const Before& at) { return at.characters >= code_point; }, passed);
}

Anchors::Node Anchors::at_entity(std::uint32_t entity) const {
    Before passed;
    return find([&](const Before& at) { return at.characters + at.anchors >= entity; }, passed);
}

// --- edits ---

void Anchors::make_room(std::uint32_t entity, std::uint32_t len) {
    const Node node = at_entity(entity);
    if (node != kNone) widen(node, len);
}

// Splits the gap at the place, then inserts a leaf and rebalances upwards.
Anchors::Node Anchors::add(std::uint32_t entity, bool holds_back) {
    Before passed;
    const Node behind =
        find([&](const Before& at) { return at.characters + at.anchors >= entity; }, passed);
    std::uint32_t gap = 0;
    if (behind == kNone) {
        gap = entity - passed.anchors - passed.characters;
    } else {
        // The characters before `behind` are divided between the two anchors.
        const std::uint32_t rest = passed.characters + passed.anchors - entity;
        gap = nodes_[behind].gap - rest;
        nodes_[behind].gap = rest;
    }
    Node node = static_cast<Node>(nodes_.size());
    if (free_.empty()) {
        nodes_.emplace_back();
    } else {
        node = free_.back();
        free_.pop_back();
        nodes_[node] = Entry{};
    }
    nodes_[node].gap = gap;
    nodes_[node].holds_back = holds_back;
    sum(node);
    if (root_ == kNone) {
        root_ = node;
        return node;
    }
    Node parent = behind;
    if (behind == kNone) {
        parent = last();
        nodes_[parent].right = node;
    } else if (nodes_[behind].left == kNone) {
        nodes_[behind].left = node;
    } else {
        parent = nodes_[behind].left;
        while (nodes_[parent].right != kNone) parent = nodes_[parent].right;
        nodes_[parent].right = node;
    }
    nodes_[node].parent = parent;
    number(node);
    rebalance(parent);
    return node;
}

// Characters shrink gaps; anchors in the range are removed one by one.
void Anchors::erase(std::uint32_t entity, std::uint32_t len) {
    while (len > 0) {
        Before passed;
        const Node node =
            find([&](const Before& at) { return at.characters + at.anchors >= entity; }, passed);
        if (node == kNone) return;  // The characters are behind the last anchor.
        const std::uint32_t characters = passed.characters + passed.anchors - entity;
        if (characters >= len) {
            widen(node, 0 - len);
            return;
        }
        // Remaining characters before the removed anchor now lie before the next one.
        const std::uint32_t stays = nodes_[node].gap - characters;
        const Node after = next(node);
        remove(node);
        if (after != kNone) widen(after, stays);
        len -= characters + 1;
    }
}

void Anchors::widen(Node node, std::uint32_t by) {
    nodes_[node].gap += by;
    for (; node != kNone; node = nodes_[node].parent) nodes_[node].characters += by;
}

// --- the tree ---

namespace {

// Returns true if a side of weight `b` is not too heavy beside one of weight `a`. A weight is a count plus
// one.
bool is_balanced(std::uint32_t a, std::uint32_t b) {
    return 3 * std::uint64_t{a} >= b;
}
// Returns true if a single rotation restores the balance; otherwise the inner grandchild is too
// heavy and has to be rotated up first.
bool is_single(std::uint32_t inner, std::uint32_t outer) {
    return inner < 2 * std::uint64_t{outer};
}

}  // namespace

void Anchors::sum(Node node) {
    Entry& entry = nodes_[node];
    entry.count = count(entry.left) + count(entry.right) + 1;
    entry.characters = characters(entry.left) + characters(entry.right) + entry.gap;
    entry.holding = holding(entry.left) + holding(entry.right) + (entry.holds_back ? 1 : 0);
}

// A node's order is its parent's plus or minus half of the parent's step, its lowest set bit.
void Anchors::number(Node node) {
    Entry& entry = nodes_[node];
    if (entry.parent == kNone) {
        entry.order = kTop;
        return;
    }
    const Entry& above = nodes_[entry.parent];
    const std::uint64_t step = (above.order & (~above.order + 1)) >> 1;
    deep_ = deep_ || step == 0;
    entry.order = above.left == node ? above.order - step : above.order + step;
}

void Anchors::number_all(Node node) {
    if (node == kNone) return;
    number(node);
    number_all(nodes_[node].left);
    number_all(nodes_[node].right);
}

// Puts `child` where `old_child` was, at the root or below `parent`.
void Anchors::link(Node parent, Node old_child, Node child) {
    if (parent == kNone) {
        root_ = child;
    } else if (nodes_[parent].left == old_child) {
        nodes_[parent].left = child;
    } else {
        nodes_[parent].right = child;
    }
    if (child != kNone) nodes_[child].parent = parent;
}

Anchors::Node Anchors::rotate(Node node, Node Entry::*from, Node Entry::*to) {
    const Node up = nodes_[node].*from;
    link(nodes_[node].parent, node, up);
    const Node between = nodes_[up].*to;
    nodes_[node].*from = between;
    if (between != kNone) nodes_[between].parent = node;
    nodes_[up].*to = node;
    nodes_[node].parent = up;
    sum(node);
    sum(up);
    return up;
}

// At each level at most one single or double rotation.
void Anchors::rebalance(Node node) {
    for (; node != kNone; node = nodes_[node].parent) {
        sum(node);
        const Node left = nodes_[node].left;
        const Node right = nodes_[node].right;
        const std::uint32_t left_weight = count(left) + 1;
        const std::uint32_t right_weight = count(right) + 1;
        if (!is_balanced(left_weight, right_weight)) {
            if (!is_single(count(nodes_[right].left) + 1, count(nodes_[right].right) + 1))
                rotate(right, &Entry::left, &Entry::right);
            node = rotate(node, &Entry::right, &Entry::left);
            number_all(node);
        } else if (!is_balanced(right_weight, left_weight)) {
            if (!is_single(count(nodes_[left].right) + 1, count(nodes_[left].left) + 1))
                rotate(left, &Entry::right, &Entry::left);
            node = rotate(node, &Entry::left, &Entry::right);
            number_all(node);
        }
    }
}

// A node with two children is replaced by the next one in order.
void Anchors::remove(Node node) {
    const Entry gone = nodes_[node];
    Node from = gone.parent;
    if (gone.left == kNone || gone.right == kNone) {
        const Node below = gone.left == kNone ? gone.right : gone.left;
        link(gone.parent, node, below);
        number_all(below);  // Beside nothing there are at most two nodes.
    } else {
        // The next anchor takes its place.
        Node heir = gone.right;
        while (nodes_[heir].left != kNone) heir = nodes_[heir].left;
        from = heir;
        if (heir != gone.right) {
            from = nodes_[heir].parent;
            const Node below = nodes_[heir].right;
            link(from, heir, below);
            number_all(below);
            nodes_[heir].right = gone.right;
            nodes_[gone.right].parent = heir;
        }
        nodes_[heir].left = gone.left;
        nodes_[gone.left].parent = heir;
        link(gone.parent, node, heir);
        number(heir);
        if (heir == gone.right) number_all(nodes_[heir].right);
    }
    free_.push_back(node);
    rebalance(from);
}

void Anchors::check_invariants() const {
    std::uint32_t anchors = 0;
    std::uint32_t all_characters = 0;
    Node earlier_one = kNone;
    for (Node node = first(); node != kNone; node = next(node)) {
        const Entry& entry = nodes_[node];
        CHECK(entry.left == kNone || nodes_[entry.left].parent == node);
        CHECK(entry.right == kNone || nodes_[entry.right].parent == node);
        CHECK(entry.count == count(entry.left) + count(entry.right) + 1);
        CHECK(entry.characters == characters(entry.left) + characters(entry.right) + entry.gap);
        CHECK(entry.holding ==
              holding(entry.left) + holding(entry.right) + (entry.holds_back ? 1 : 0));
        CHECK(is_balanced(count(entry.left) + 1, count(entry.right) + 1));
        CHECK(is_balanced(count(entry.right) + 1, count(entry.left) + 1));
        all_characters += entry.gap;
        const Before at = before(node);
        CHECK(at.anchors == anchors && at.characters == all_characters);
        ++anchors;
        CHECK(earlier_one == kNone || (earlier(earlier_one, node) && !earlier(node, earlier_one)));
        earlier_one = node;
    }
    CHECK(anchors == size() && anchors + free_.size() == nodes_.size());
    CHECK(root_ == kNone || nodes_[root_].parent == kNone);
}

}  // namespace quire::crdt

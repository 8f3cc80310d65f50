// Anchors: the places of a text's style anchors among its characters.
//
// Ops count entities, characters and anchors alike; readers count code points. Each anchor stores
// the number of characters between it and the anchor before, in a weight-balanced tree that sums
// them up (Adams 1992, with the factors of Hirai & Yamamoto 2011), so an edit changes only its own
// neighbourhood. Everything is O(log anchors) unless stated otherwise; characters behind the last
// anchor are not counted at all.
#pragma once

#include <cstdint>
#include <vector>

namespace quire::crdt {

// The anchors of one text.
class Anchors {
public:
    // An anchor. Its number is used again after it is gone.
    using Node = std::uint32_t;
    static constexpr Node kNone = ~Node{0};

    bool empty() const { return root_ == kNone; }
    std::uint32_t size() const { return count(root_); }

    // --- positions ---
    // The entity position for text typed at a code point position: before the first anchor there
    // that holds it back, else behind all of them.
    std::uint32_t insertion(std::uint32_t code_point) const;
    // The entity position of a character.
    std::uint32_t character(std::uint32_t code_point) const;
    // The number of characters before an entity position.
    std::uint32_t code_point(std::uint32_t entity) const;
    // Anchors in [entity, entity + len).
    std::uint32_t count_in(std::uint32_t entity, std::uint32_t len) const;

    // --- anchors in order ---
    Node first() const;
    Node next(Node node) const;  // kNone behind the last. O(1) amortised.
    // The first anchor with at least this many characters before it.
    Node with_characters(std::uint32_t code_point) const;
    // The first anchor at an entity position or behind it.
    Node at_entity(std::uint32_t entity) const;
    // The number of characters before an anchor; and between it and the anchor before, O(1).
    std::uint32_t characters_before(Node node) const { return before(node).characters; }
    std::uint32_t gap(Node node) const { return nodes_[node].gap; }
    // The number of anchors before an anchor.
    std::uint32_t rank(Node node) const { return before(node).anchors; }
    // Returns true if `a` lies before `b`. O(1).
    bool earlier(Node a, Node b) const {
        return deep_ ? rank(a) < rank(b) : nodes_[a].order < nodes_[b].order;
    }
    // All numbers of anchors are below this.
    std::size_t bound() const { return nodes_.size(); }

    // --- edits ---
    // Inserts `len` characters at an entity position.
    void make_room(std::uint32_t entity, std::uint32_t len);
    // Inserts an anchor. Text typed beside an anchor that holds back goes before it.
    Node add(std::uint32_t entity, bool holds_back);
    // Removes entities, anchors among them. O(removed anchors · log anchors).
    void erase(std::uint32_t entity, std::uint32_t len);

    // CHECKs every structural invariant. O(n).
    void check_invariants() const;

private:
    static constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

    struct Entry {
        Node parent = kNone;
        Node left = kNone;
        Node right = kNone;
        std::uint32_t gap = 0;
        bool holds_back = false;
        // Ascends in anchor order: the path from the root in the upper bits, then a one.
        std::uint64_t order = kTop;
        // Sums over the anchors at and below this node.
        std::uint32_t count = 1;
        std::uint32_t characters = 0;
        std::uint32_t holding = 0;
    };
    struct Before {
        std::uint32_t anchors = 0;
        std::uint32_t characters = 0;
        std::uint32_t holding = 0;
    };

    std::uint32_t count(Node node) const { return node == kNone ? 0 : nodes_[node].count; }
    std::uint32_t characters(Node node) const {
        return node == kNone ? 0 : nodes_[node].characters;
    }
    std::uint32_t holding(Node node) const { return node == kNone ? 0 : nodes_[node].holding; }
    Before before(Node node) const;
    // The first anchor for which `reached` is true, given the anchors and characters before it, and
    // those numbers; `reached` must stay true for all anchors behind.
    template <class Reached>
    Node find(Reached reached, Before& passed) const;
    // The first anchor from `rank` on that holds back.
    Node next_holding(std::uint32_t rank) const;
    Node last() const;

    void widen(Node node, std::uint32_t by);  // Widens its gap; a negative amount wraps around.
    void sum(Node node);
    // Recomputes the `order` of a node, or of it and all nodes below, from the parents' values. In
    // a tree with these weights, a node with n nodes below it is rotated about once in n edits, so
    // this is O(log anchors) per edit, amortised (the idea is from Dietz & Sleator 1987).
    void number(Node node);
    void number_all(Node node);
    void rebalance(Node node);  // Rebalances the node and all above it, and sums them up.
    void link(Node parent, Node old_child, Node child);
    // The child on the side `from` takes the node's place, and the node becomes its child on the
    // side `to`. Returns that child.
    Node rotate(Node node, Node Entry::*from, Node Entry::*to);
    void remove(Node node);

    Node root_ = kNone;
    bool deep_ = false;  // A path from the root once had more than 63 steps.
    std::vector<Entry> nodes_;
    std::vector<Node> free_;
};

}  // namespace quire::crdt

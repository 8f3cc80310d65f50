// Anchors: where a text's style anchors lie among its characters.
//
// Ops count entities, characters and anchors alike; readers count code points. Each anchor keeps
// the number of characters between it and the anchor before it, in a weight-balanced tree that sums
// them up (Adams 1992, with the factors of Hirai & Yamamoto 2011), so that an edit moves nothing
// but itself. Everything is O(log anchors) unless it says otherwise; characters behind the last
// anchor are not counted at all.
#pragma once

#include <cstdint>
#include <vector>

namespace quire::crdt {

class Anchors {
public:
    // An anchor; its number is used again once it is gone.
    using Node = std::uint32_t;
    static constexpr Node kNone = ~Node{0};

    bool empty() const { return root_ == kNone; }
    std::uint32_t size() const { return count(root_); }

    // --- positions ---
    // The entity position at which text typed at a code point position goes: before the first
    // anchor there that holds it back, else behind all of them.
    std::uint32_t insertion(std::uint32_t code_point) const;
    // The entity position of a character.
    std::uint32_t character(std::uint32_t code_point) const;
    // How many characters lie before an entity position.
    std::uint32_t code_point(std::uint32_t entity) const;
    // Anchors in [entity, entity + len).
    std::uint32_t count_in(std::uint32_t entity, std::uint32_t len) const;

    // --- anchors in order ---
    Node first() const;
    Node next(Node node) const;  // kNone behind the last. O(1) amortised.
    // The first one with at least this many characters before it.
    Node with_characters(std::uint32_t code_point) const;
    // The first one at an entity position or behind it.
    Node at_entity(std::uint32_t entity) const;
    // How many characters lie before an anchor; how many of them behind the anchor before it, O(1).
    std::uint32_t characters_before(Node node) const { return before(node).characters; }
    std::uint32_t gap(Node node) const { return nodes_[node].gap; }
    // How many anchors lie before an anchor.
    std::uint32_t rank(Node node) const { return before(node).anchors; }
    // Whether one lies before another. O(1).
    bool earlier(Node a, Node b) const {
        return deep_ ? rank(a) < rank(b) : nodes_[a].order < nodes_[b].order;
    }
    // Numbers of anchors are below this.
    std::size_t bound() const { return nodes_.size(); }

    // --- edits ---
    // `len` characters come in at an entity position.
    void make_room(std::uint32_t entity, std::uint32_t len);
    // An anchor comes in; one that holds back has text that is typed beside it go before it.
    Node add(std::uint32_t entity, bool holds_back);
    // Entities go, anchors among them. O(anchors that go · log anchors).
    void erase(std::uint32_t entity, std::uint32_t len);

    void check_invariants() const;

private:
    static constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

    struct Entry {
        Node parent = kNone;
        Node left = kNone;
        Node right = kNone;
        std::uint32_t gap = 0;
        bool holds_back = false;
        // Ascends with the anchors: the way from the root in its upper bits, then a one.
        std::uint64_t order = kTop;
        // Of the anchors at and below this node.
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
    // The first anchor that `reached` says yes to, given the anchors and characters before it, with
    // those; yes to one is yes to all behind it.
    template <class Reached>
    Node find(Reached reached, Before& passed) const;
    // The first anchor from `rank` on that holds back.
    Node next_holding(std::uint32_t rank) const;
    Node last() const;

    void widen(Node node, std::uint32_t by);  // Its gap grows; a negative amount wraps around.
    void sum(Node node);
    // Tells a node, or it and all below it, their `order` again from what their parents have. A
    // tree of these weights turns a node with n below it once in some n edits, so it is O(log
    // anchors) an edit, amortised (Dietz & Sleator 1987 for the idea).
    void number(Node node);
    void number_all(Node node);
    void rebalance(Node node);  // And all above it; sums them too.
    void link(Node parent, Node old_child, Node child);
    Node rotate_left(Node node);
    Node rotate_right(Node node);
    void remove(Node node);

    Node root_ = kNone;
    bool deep_ = false;  // A way from the root once had more than 63 steps.
    std::vector<Entry> nodes_;
    std::vector<Node> free_;
};

}  // namespace quire::crdt

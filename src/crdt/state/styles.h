// Styles: the styles of a text, and the attributes of each character.
//
// A style lies between two anchors, its start and its end, and applies to everything between them
// while both exist. If styles of one key overlap, the last by (lamport, peer) of their starts
// decides; a null value means no style. For each key the stretches with one deciding style are
// kept, each indexed by the anchor at which it begins, so reading sorts nothing. Mutable only where
// a style is removed: its key's stretches are then recomputed on the next read.
//
//     text          t h e   q u i c k   f o x
//     bold              [---------)               written first
//     bold: null              [---------)         written later, so it decides where both lie
//     stretches         bold  none      end       the end of the first begins no stretch
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/value.h"
#include "crdt/ids/ids.h"
#include "crdt/state/anchors.h"

namespace quire::crdt {

// The content of a style's start, and its rank.
struct StyleMark {
    std::string key;
    Value value;
    Lamport lamport = 0;
    PeerId peer = 0;
};

class Styles {
public:
    Styles() = default;
    // Notes no changes. O(anchors).
    Styles(const Styles& other);
    Styles& operator=(const Styles&) = delete;
    ~Styles() = default;

    const Anchors& anchors() const { return anchors_; }

    // --- edits; positions in entities, each O(log anchors), amortised ---
    void make_room(std::uint32_t entity, std::uint32_t len) { anchors_.make_room(entity, len); }
    // Inserts a style's start, by its number in history. It has no effect until its end arrives.
    void start(std::uint32_t entity, std::uint32_t lv, StyleMark mark, bool holds_back);
    // Inserts the end of the style that atom `lv` starts; without effect if the start is gone.
    void end(std::uint32_t entity, std::uint32_t lv, bool holds_back);
    // Removes entities. A style that loses an anchor has no effect any more.
    void erase(std::uint32_t entity, std::uint32_t len);

    // --- reading; positions in code points ---
    // Calls take(len, attributes) for the stretches of [begin, end), neighbours differing, with
    // attributes sorted by key. O(keys · log anchors) unless `begin` is 0, plus the anchors inside.
    template <class Take>
    void for_each_span(std::uint32_t begin, std::uint32_t end, Take take) const;
    // Returns true if a whole, non-empty stretch has this value at this key; null means no value.
    bool has(std::string_view key, const Value& value, std::uint32_t begin,
             std::uint32_t end) const;

    // --- what changes ---
    // From now on, just before atom `since`, records where another style comes to decide; earlier
    // records are dropped. O(1) per changed stretch.
    void note_changes(std::uint32_t since);
    void stop_noting();
    // A stretch of code points, in present positions, whose value at a key may have changed, and
    // its former value. Text inserted since may lie in it.
    struct Change {
        std::uint32_t begin;
        std::uint32_t end;
        std::string_view key;
        const Value* before;
    };
    // The recorded changes, each character at most once per key. Nothing if recording did not begin
    // at `since`, or if anchors were removed.
    std::optional<std::vector<Change>> changes(std::uint32_t since) const;

    void check_invariants() const;

private:
    using Node = Anchors::Node;
    using Index = std::uint32_t;  // The number of a style.
    static constexpr Index kNone = ~Index{0};
    static constexpr Index kSame = kNone - 1;  // No stretch begins here.

    // Orders anchors by their place in the text, which moves with edits but never swaps two of
    // them.
    struct Earlier {
        using is_transparent = void;
        const Anchors* anchors;
        bool operator()(Node a, Node b) const { return anchors->earlier(a, b); }
    };
    // All that is known of one style key. A stretch lasts until the next one begins; before the
    // first and from the last on no style decides.
    struct Key {
        std::string name;
        std::vector<Index> styles;  // Styles with both anchors.
        std::set<Node, Earlier> stretches;
        bool stale = false;  // `stretches` is empty and must be recomputed.
    };
    // A style from its start on; it stays in the list after it has lost an anchor, and decides
    // nothing.
    struct Style {
        StyleMark mark;
        std::uint32_t lv = 0;
        Index key = 0;
        Node start = kNone;
        Node end = kNone;
        bool loses_to(const Style& other) const {
            return mark.lamport != other.mark.lamport ? mark.lamport < other.mark.lamport
                                                      : mark.peer < other.mark.peer;
        }
        bool is_whole() const { return start != Anchors::kNone && end != Anchors::kNone; }
    };
    struct NodeInfo {
        Index style = kNone;    // The style whose start or end it is.
        Index decides = kSame;  // The deciding style from here on, for the key of its style.
    };
    // The styles in force at a place, by key; only styles with a value.
    using InForce = std::map<std::string_view, Index>;

    Index intern(const std::string& key);
    NodeInfo& info(Node node);
    // Lets a whole style decide wherever it outranks the one that does, and joins equal neighbours.
    void apply(Index index) const;
    using Stretches = std::set<Node, Earlier>;
    // Has a stretch of the key begin at the anchor, decided as the place was before.
    Stretches::iterator cut(Key& key, Node node) const;
    // Computes the stretches of stale keys anew. for_each_span() and has() call it. O(styles of the
    // key, each as long to apply as a new one).
    void refresh() const;
    void refresh(Key& key) const;
    // Detaches an anchor that is about to be removed from its style. The key of a whole style
    // becomes stale.
    void forget(Node node);
    InForce in_force(std::uint32_t code_point) const;
    // Passes an anchor; false if that changes nothing.
    bool pass(Node node, InForce& now) const;
    Map attributes(const InForce& now) const;
    const Value& value_of(Index style) const;

    Anchors anchors_;
    std::deque<Style> styles_;
    // Starts whose ends have not arrived, by number.
    std::unordered_map<std::uint32_t, Index> open_;
    mutable std::deque<Key> keys_;
    std::unordered_map<std::string, Index> key_index_;
    mutable std::vector<NodeInfo> nodes_;
    mutable std::vector<Index> stale_;  // Indices of keys.

    // A stretch at which another style came to decide while changes were noted, and the one before.
    struct Noted {
        Index key;
        Node begin;
        Node end;
        Index before;
    };
    std::optional<std::uint32_t> noted_since_;
    bool noted_all_ = false;  // Everything since could be recorded.
    mutable std::vector<Noted> noted_;
};

template <class Take>
void Styles::for_each_span(std::uint32_t begin, std::uint32_t end, Take take) const {
    refresh();
    InForce now = in_force(begin);
    Map here = attributes(now);
    Map before;
    std::uint32_t waiting = 0;
    Node node = anchors_.with_characters(begin + 1);
    std::uint32_t at = begin;
    std::uint32_t reached = node == Anchors::kNone ? end : anchors_.characters_before(node);
    while (at < end) {
        const std::uint32_t stop = reached < end ? reached : end;
        if (waiting > 0 && !(here == before)) {
            take(waiting, before);
            waiting = 0;
        }
        if (waiting == 0) before = here;
        waiting += stop - at;
        at = stop;
        // All anchors at this place.
        bool changed = false;
        while (node != Anchors::kNone && reached == at) {
            changed = pass(node, now) || changed;
            node = anchors_.next(node);
            reached = node == Anchors::kNone ? end : reached + anchors_.gap(node);
        }
        if (changed) here = attributes(now);
    }
    if (waiting > 0) take(waiting, before);
}

}  // namespace quire::crdt

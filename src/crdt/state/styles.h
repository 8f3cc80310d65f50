// Styles: which styles a text has, and what each character gets from them.
//
// A style lies between two anchors, its start and its end, and styles what lies between while both
// are there. Where styles of one key overlap, the last by (lamport, peer) of their starts decides;
// a null value is no style. For each key the stretches with one deciding style are kept, each by
// the anchor at which it begins, so that reading sorts nothing. Mutable only where a style is taken
// out: what its key amounts to is then found when it is next asked for.
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

// What a style's start says, and what ranks it.
struct StyleMark {
    std::string key;
    Value value;
    Lamport lamport = 0;
    PeerId peer = 0;
};

class Styles {
public:
    Styles() = default;
    Styles(const Styles&) = delete;  // Stretches are ordered by where `anchors_` has them.
    Styles& operator=(const Styles&) = delete;
    ~Styles() = default;

    const Anchors& anchors() const { return anchors_; }

    // --- edits; positions in entities, each O(log anchors), amortised ---
    void make_room(std::uint32_t entity, std::uint32_t len) { anchors_.make_room(entity, len); }
    // A style's start, by its number in history. It styles nothing until its end comes in.
    void start(std::uint32_t entity, std::uint32_t lv, StyleMark mark, bool holds_back);
    // The end of the style that atom `lv` starts; one whose start has gone ends nothing.
    void end(std::uint32_t entity, std::uint32_t lv, bool holds_back);
    // Entities go. A style that loses an anchor styles nothing any more.
    void erase(std::uint32_t entity, std::uint32_t len);

    // --- reading; positions in code points ---
    // Calls take(len, attributes) for the stretches of [begin, end), neighbours differing, with
    // attributes sorted by key. O(keys · log anchors) unless it begins at 0, and the anchors
    // inside.
    template <class Take>
    void for_each_span(std::uint32_t begin, std::uint32_t end, Take take) const;
    // Whether all of a stretch that is not empty has this value at this key; null: has no value.
    bool has(std::string_view key, const Value& value, std::uint32_t begin,
             std::uint32_t end) const;

    // --- what changes ---
    // From now on, which is just before atom `since`, notes where another style comes to decide;
    // what was noted for another `since` is forgotten. O(1) a stretch that changes.
    void note_changes(std::uint32_t since);
    void stop_noting();
    // A stretch of code points, as they are now, whose value at a key may have changed, and what it
    // was. Text that has come in since may lie in it.
    struct Change {
        std::uint32_t begin;
        std::uint32_t end;
        std::string_view key;
        const Value* before;
    };
    // What was noted, each character at most once for a key. None when it was not noted since then,
    // or anchors have gone.
    std::optional<std::vector<Change>> changes(std::uint32_t since) const;

    void check_invariants() const;

private:
    using Node = Anchors::Node;
    using Index = std::uint32_t;  // Of a style.
    static constexpr Index kNone = ~Index{0};
    static constexpr Index kSame = kNone - 1;  // No stretch begins here.

    struct Earlier {
        using is_transparent = void;
        const Anchors* anchors;
        bool operator()(Node a, Node b) const { return anchors->earlier(a, b); }
    };
    struct Key {
        std::string name;
        std::vector<Index> styles;  // With both anchors.
        std::set<Node, Earlier> stretches;
        bool stale = false;  // `stretches` is empty and not true.
    };
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
        Index style = kNone;    // Whose start or end it is.
        Index decides = kSame;  // From here on, for the key of its style.
    };
    // What is in force at a place, by key; styles with a value only.
    using InForce = std::map<std::string_view, Index>;

    Index intern(const std::string& key);
    NodeInfo& info(Node node);
    void apply(Index index) const;
    using Stretches = std::set<Node, Earlier>;
    Stretches::iterator cut(Key& key, Node node) const;
    void refresh() const;
    void refresh(Key& key) const;
    void forget(Node node);
    InForce in_force(std::uint32_t code_point) const;
    // Goes past an anchor; false when that changes nothing.
    bool pass(Node node, InForce& now) const;
    Map attributes(const InForce& now) const;
    const Value& value_of(Index style) const;

    Anchors anchors_;
    std::deque<Style> styles_;
    std::unordered_map<std::uint32_t, Index> open_;  // Starts whose ends have not come, by number.
    mutable std::deque<Key> keys_;
    std::unordered_map<std::string, Index> key_index_;
    mutable std::vector<NodeInfo> nodes_;
    mutable std::vector<Index> stale_;  // Keys.

    struct Noted {
        Index key;
        Node begin;
        Node end;
        Index before;
    };
    std::optional<std::uint32_t> noted_since_;
    bool noted_all_ = false;  // Nothing that cannot be noted has happened since.
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

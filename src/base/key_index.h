// KeyIndex: the places of a deque's elements by a member that each has, such as its id. The deque alone
// keeps the keys, so an entry costs a number and the set's node.
//
//     elements   | id "a", ... | id "b", ... | id "c", ... |   a deque: elements do not move
//     places     { 2, 0, 1 }   a hash set of places, hashed by elements[place].id
//
// A map from key to place would hold every key a second time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_set>

namespace quire {

// Elements are only added at the end of the deque. Their keys differ and stay as they are. All calls are
// O(1). The deque must outlive the index. For one thread at a time, like the containers it is made
// of.
template <class Element, class Key, Key Element::*key>
class KeyIndex {
public:
    explicit KeyIndex(const std::deque<Element>& elements)
        : places_(0, Hash{&elements}, Same{&elements}) {}
    KeyIndex(const KeyIndex&) = delete;
    KeyIndex& operator=(const KeyIndex&) = delete;
    ~KeyIndex() = default;

    // The place of the element with the key; none if no element was added with it.
    std::optional<std::uint32_t> find(const Key& wanted) const {
        const auto at = places_.find(wanted);
        return at == places_.end() ? std::nullopt : std::optional(*at);
    }
    bool contains(const Key& wanted) const { return places_.contains(wanted); }
    // Adds the element at a place of the deque, where it is already. Nothing checks that its key is
    // new.
    void add(std::uint32_t place) { places_.insert(place); }

private:
    // Both accept a place or a key (`is_transparent`), so that a lookup needs no element to compare
    // with.
    struct Hash {
        using is_transparent = void;
        const std::deque<Element>* elements;
        std::size_t operator()(const Key& wanted) const { return std::hash<Key>()(wanted); }
        std::size_t operator()(std::uint32_t place) const {
            return (*this)((*elements)[place].*key);
        }
    };
    struct Same {
        using is_transparent = void;
        const std::deque<Element>* elements;
        bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
        bool operator()(const Key& wanted, std::uint32_t place) const {
            return (*elements)[place].*key == wanted;
        }
        bool operator()(std::uint32_t place, const Key& wanted) const {
            return (*this)(wanted, place);
        }
    };
    std::unordered_set<std::uint32_t, Hash, Same> places_;
};

}  // namespace quire

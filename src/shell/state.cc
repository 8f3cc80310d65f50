// Joins two states where branches meet. The result must hold after either branch, so it may only
// lose knowledge: a set grows, and what has no set to grow becomes unknown. Run::repeat() relies on
// that, because a loop ends only when a further round changes nothing.
#include "shell/state.h"

#include <algorithm>

namespace quire::shell {

namespace {

// Calls join(one, other) for each key of either map, with null for the map that does not have it.
template <class Key, class Item, class Join>
void merge_maps(std::map<Key, Item>& into, const std::map<Key, Item>& other, Join join) {
    for (auto& [key, item] : into) {
        const auto there = other.find(key);
        item = join(&item, there == other.end() ? nullptr : &there->second);
    }
    for (const auto& [key, item] : other) {
        if (!into.contains(key)) into.emplace(key, join(nullptr, &item));
    }
}

}  // namespace

State either(State one, const State& other) {
    if (one == other) return one;
    // An empty set is any directory, so it wins over each other set.
    if (one.cwds.empty() || other.cwds.empty()) {
        one.cwds.clear();
    } else {
        one.cwds.insert(one.cwds.end(), other.cwds.begin(), other.cwds.end());
        std::sort(one.cwds.begin(), one.cwds.end());
        one.cwds.erase(std::unique(one.cwds.begin(), one.cwds.end()), one.cwds.end());
        if (one.cwds.size() > kMostDirectories) one.cwds.clear();
    }
    // A variable that only one of them has set is what it was before in the other.
    merge_maps(one.variables, other.variables, [](const Value* a, const Value* b) {
        if (a != nullptr && b != nullptr) return either(*a, *b);
        return Value::unknown("a variable that is set in a branch");
    });
    merge_maps(one.arrays, other.arrays, [](const Elements* a, const Elements* b) {
        if (a != nullptr && b != nullptr && *a == *b) return *a;
        return Elements{{Value::unknown("an array that is set in a branch")}, false};
    });
    for (const auto& [name, elements] : one.arrays) one.variables.erase(name);
    one.fixed.insert(other.fixed.begin(), other.fixed.end());
    for (const auto& [name, body] : other.functions) {
        const auto [at, is_new] = one.functions.emplace(name, body);
        if (is_new || at->second != body) at->second = nullptr;
    }
    for (auto& [name, body] : one.functions) {
        if (!other.functions.contains(name)) body = nullptr;
    }
    if (one.positional != other.positional)
        one.positional = {Value::many("arguments that are set in a branch")};
    one.splits_oddly = one.splits_oddly || other.splits_oddly;
    one.globs_oddly = one.globs_oddly || other.globs_oddly;
    return one;
}

}  // namespace quire::shell

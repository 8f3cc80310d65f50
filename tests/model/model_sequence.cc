#include "tests/model/model_sequence.h"

#include <algorithm>

#include "base/check.h"

namespace quire::model {

using namespace crdt;

namespace {

bool created(const Element& element, const Version& version) {
    return version.contains(element.id);
}

std::size_t index_of(const std::vector<Element>& all, const std::optional<OpId>& id) {
    if (!id) return all.size();
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const Element& e) { return e.id == *id; }) -
        all.begin());
}

}  // namespace

bool visible(const Element& element, const Version& version) {
    return created(element, version) &&
           std::none_of(element.deleted_by.begin(), element.deleted_by.end(),
                        [&](const OpId& by) { return version.contains(by); });
}

void insert(std::vector<Element>& all, Element x, std::size_t pos, const Version& version,
            Fault fault) {
    // Left: the visible element before the position. Right: the next one that was created, deleted
    // or not.
    std::size_t at = 0;
    for (std::size_t seen = 0; seen < pos; ++at) {
        CHECK(at < all.size());
        if (!visible(all[at], version)) continue;
        x.left = all[at].id;
        ++seen;
    }
    std::size_t right = at;
    while (right < all.size() && !created(all[right], version)) ++right;
    if (right < all.size()) x.right = all[right].id;

    const auto right_parent = [&](const std::optional<OpId>& origin) {
        const std::size_t index = index_of(all, origin);
        return index < all.size() && all[index].left == x.left ? index : all.size();
    };
    const auto goes_behind = [&](const Element& y) {
        return fault == Fault::tie_break ? y.id.peer < x.id.peer : y.id.peer > x.id.peer;
    };
    std::set<OpId> visited;
    bool scanning = false;
    std::size_t best = at;
    for (std::size_t i = at; i < right; ++i) {
        const Element& y = all[i];
        if (y.left != x.left && !(y.left && visited.contains(*y.left))) break;
        visited.insert(y.id);
        if (y.left == x.left) {
            if (y.right == x.right) {
                if (goes_behind(y)) break;
                scanning = false;
            } else {
                const std::size_t theirs = right_parent(y.right);
                const std::size_t mine = right_parent(x.right);
                if (theirs == mine && goes_behind(y)) break;
                scanning = theirs < mine;
            }
        }
        if (!scanning) best = i + 1;
    }
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(best), std::move(x));
}

void erase(std::vector<Element>& all, OpId by, std::size_t pos, const Version& version,
           Fault fault) {
    if (fault == Fault::erase && by.counter % 2 == 1) return;
    for (Element& element : all) {
        if (!visible(element, version)) continue;
        if (pos-- > 0) continue;
        element.deleted_by.insert(by);
        return;
    }
    CHECK(false);
}

}  // namespace quire::model

// Past: the atoms of a version, for many membership tests.
//
// A version that holds everything known when it was made is one span and costs O(1); any other is
// worked out by the graph once, as spans of local numbers, and answers from them. It refers to
// nothing, so it outlives a document's edits; after a rewind() it may name atoms that are gone.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "crdt/history/graph.h"

namespace quire::crdt {

// A value; usable as long as the history grows only.
class Past {
public:
    Past() = default;  // Contains nothing.
    // All atoms numbered below `end`, given the heads among them. O(1).
    Past(Lv end, Heads heads) : heads_(std::move(heads)) {
        if (end > 0) spans_.push_back({0, end});
    }
    // The version with these heads. O(runs of history in it).
    Past(const Graph& graph, Heads heads) : heads_(std::move(heads)) {
        Difference difference;
        graph.diff({}, heads_, difference);
        spans_ = std::move(difference.only_b);
    }

    const Heads& heads() const { return heads_; }
    // Ascending, not touching.
    const std::vector<LvSpan>& spans() const { return spans_; }
    // O(log spans); a version that contains everything is one span.
    bool contains(Lv lv) const {
        const auto after =
            std::upper_bound(spans_.begin(), spans_.end(), lv,
                             [](Lv value, const LvSpan& span) { return value < span.begin; });
        return after != spans_.begin() && lv < (after - 1)->end;
    }

private:
    Heads heads_;
    std::vector<LvSpan> spans_;
};

}  // namespace quire::crdt

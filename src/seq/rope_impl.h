// The bodies of BasicRope, included by rope.cc and by tests that want other constants: the nodes,
// reading, editing in place, editing from the root, and here building and copying.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "seq/rope_node_impl.h"
#include "seq/rope_path_impl.h"
#include "seq/rope_read_impl.h"
#include "seq/rope_tree_impl.h"

namespace quire::seq {

template <std::size_t kChunk, std::size_t kFan>
BasicRope<kChunk, kFan>::BasicRope(std::string_view text) {
    if (!text.empty()) build(text, nullptr, root_, total_);
}

// The tree of a text that is not empty: first all leaves, then level by level the nodes above them,
// each filled but for the last. O(n), without a search.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::build(std::string_view text, Reel* reel, Node*& root,
                                    TextSummary& total) {
    std::vector<std::pair<Node*, TextSummary>> level;
    level.reserve(text.size() / (kChunk * 3 / 4) + 1);
    while (!text.empty()) {
        // Leaves are not filled, so that the first edits do not split every chunk.
        std::size_t take = std::min(text.size(), std::max<std::size_t>(kChunk * 3 / 4, 4));
        while (take < text.size() && !utf8::is_boundary(text[take])) --take;
        const std::string_view piece = text.substr(0, take);
        level.emplace_back(leaf_of({piece, reel, reel != nullptr}), TextSummary::of(piece));
        text.remove_prefix(take);
    }
    while (level.size() > 1) {
        std::vector<std::pair<Node*, TextSummary>> above;
        for (std::size_t i = 0; i < level.size(); i += kFan) {
            auto* inner = new Inner(level[i].first->height + 1);
            for (std::size_t k = i; k < std::min(level.size(), i + kFan); ++k) {
                inner->insert(inner->count, level[k].first, level[k].second);
            }
            above.emplace_back(inner, inner->sum());
        }
        level = std::move(above);
    }
    root = level[0].first;
    total = level[0].second;
}

// A copy shares the whole tree. Neither rope may then write in place, which path_holds() sees.
template <std::size_t kChunk, std::size_t kFan>
BasicRope<kChunk, kFan>::BasicRope(const BasicRope& other)
    : root_(other.root_), total_(other.total_) {
    retain(root_);
}

// The source is empty afterwards. Its path is dropped with the leaf that it led to; that of the new
// rope is set by its first edit.
template <std::size_t kChunk, std::size_t kFan>
BasicRope<kChunk, kFan>::BasicRope(BasicRope&& other) noexcept
    : root_(std::exchange(other.root_, nullptr)), total_(std::exchange(other.total_, {})) {
    other.path_.leaf = nullptr;
}

// Retains before it releases: this rope may hold the last reference to a node that both share.
template <std::size_t kChunk, std::size_t kFan>
auto BasicRope<kChunk, kFan>::operator=(const BasicRope& other) -> BasicRope& {
    if (this == &other) return *this;
    retain(other.root_);
    release(root_);
    root_ = other.root_;
    total_ = other.total_;
    path_.leaf = nullptr;
    return *this;
}

template <std::size_t kChunk, std::size_t kFan>
auto BasicRope<kChunk, kFan>::operator=(BasicRope&& other) noexcept -> BasicRope& {
    if (this == &other) return *this;
    release(root_);
    root_ = std::exchange(other.root_, nullptr);
    total_ = std::exchange(other.total_, {});
    path_.leaf = nullptr;
    other.path_.leaf = nullptr;
    return *this;
}

template <std::size_t kChunk, std::size_t kFan>
BasicRope<kChunk, kFan>::~BasicRope() {
    release(root_);
}

}  // namespace quire::seq

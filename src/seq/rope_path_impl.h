// Editing of BasicRope in place. Included by rope_impl.h.
//
// People and agents edit near their last edit, so the rope remembers the path to the leaf it edited
// last. As long as the next edit falls into that leaf, fits, and no snapshot shares the path, it is
// a move within one chunk plus an addition per level. Otherwise the edit goes from the root
// (rope_tree_impl.h), and the path is set anew.
#pragma once

#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "seq/rope_node_impl.h"

namespace quire::seq {

// True while this rope alone owns every node on the path. A copy of the rope takes a reference to
// the root, so one snapshot is enough to end the path.
template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::path_holds() const {
    for (std::size_t i = 0; i < path_.depth; ++i) {
        if (!is_unique(path_.steps->nodes[i])) return false;
    }
    return is_unique(path_.leaf);
}

// Points the path at the leaf in which `at` units end, so that an insertion there extends a chunk.
template <std::size_t kChunk, std::size_t kFan>
template <std::size_t TextSummary::*kMetric>
void BasicRope<kChunk, kFan>::descend(std::size_t at) {
    path_.depth = 0;
    path_.bytes = 0;
    path_.code_points = 0;
    path_.size = total_;
    Node* node = own(root_);
    std::size_t passed = 0;
    while (node->height > 0) {
        auto* inner = static_cast<Inner*>(node);
        std::uint32_t i = 0;
        while (i + 1 < inner->count && passed + inner->sizes[i].*kMetric < at) {
            passed += inner->sizes[i].*kMetric;
            path_.bytes += inner->sizes[i].bytes;
            path_.code_points += inner->sizes[i].code_points;
            ++i;
        }
        CHECK(path_.depth < kMaxDepth);
        if (path_.steps == nullptr) path_.steps = std::make_unique<Steps>();
        path_.steps->nodes[path_.depth] = inner;
        path_.steps->slots[path_.depth] = i;
        ++path_.depth;
        path_.size = inner->sizes[i];
        node = own(inner->children[i]);
    }
    path_.leaf = static_cast<Leaf*>(node);
}

// Text was added to the leaf: all sizes on the path grow.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::add_on_path(const TextSummary& added) {
    for (std::size_t i = 0; i < path_.depth; ++i) {
        Inner* node = path_.steps->nodes[i];
        node->sizes[path_.steps->slots[i]] += added;
        node->forget();
    }
    path_.size += added;
    total_ += added;
}

// Text was removed from the leaf: all sizes on the path shrink.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::subtract_on_path(const TextSummary& removed) {
    for (std::size_t i = 0; i < path_.depth; ++i) {
        Inner* node = path_.steps->nodes[i];
        node->sizes[path_.steps->slots[i]] -= removed;
        node->forget();
    }
    path_.size -= removed;
    total_ -= removed;
}

// Inserts into the path's leaf if it has room, else from the root.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::insert_at_path(std::size_t offset, std::string_view utf8,
                                             Reel* reel) {
    if (path_.leaf->count + utf8.size() <= kChunk) {
        path_.leaf->splice(offset, 0, utf8);
        add_on_path(TextSummary::of(utf8));
        return;
    }
    insert_bytes(path_.bytes + offset, utf8, reel);
}

// Tries the path first, and sets it anew where it does not serve. Large text in a reel goes from
// the root at once: it gets leaves of its own, and the path would only be lost.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::insert(text::CodePoint at, std::string_view utf8, Reel* reel) {
    CHECK(at.n <= total_.code_points);
    if (utf8.empty()) return;
    const bool shows = reel != nullptr && utf8.size() >= kMuch;
    if (root_ == nullptr) {
        path_.leaf = nullptr;
        build(utf8, shows ? reel : nullptr, root_, total_);
        return;
    }
    if (shows) return insert_bytes(to_byte(at).n, utf8, reel);
    if (path_.leaf == nullptr || at.n < path_.code_points ||
        at.n - path_.code_points > path_.size.code_points || !path_holds()) {
        descend<&TextSummary::code_points>(at.n);
    }
    const std::size_t index = at.n - path_.code_points;
    const bool ascii = path_.size.bytes == path_.size.code_points;
    insert_at_path(ascii ? index : utf8::offset_of_code_point(path_.leaf->view(), index), utf8,
                   reel);
}

// Erases within the path's leaf; false, with nothing done, if the leaf would become empty, or so
// small that it should be joined with a neighbour.
template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::erase_at_path(std::size_t offset, std::size_t count) {
    const std::size_t left = path_.leaf->count - count;
    if (left == 0 || (left < kChunk / 4 && path_.depth > 0)) return false;
    subtract_on_path(TextSummary::of(path_.leaf->view().substr(offset, count)));
    path_.leaf->splice(offset, count, {});
    return true;
}

// The range may begin in the path's leaf and end beyond it. Then it goes from the root, in bytes.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::erase(text::CodePoint at, text::CodePoint count) {
    CHECK(at.n <= total_.code_points && count.n <= total_.code_points - at.n);
    if (count.n == 0) return;
    if (path_.leaf == nullptr || at.n < path_.code_points ||
        at.n + count.n - path_.code_points > path_.size.code_points || !path_holds()) {
        descend<&TextSummary::code_points>(at.n + 1);
    }
    const std::size_t begin = at.n - path_.code_points;
    if (begin + count.n <= path_.size.code_points) {
        const bool ascii = path_.size.bytes == path_.size.code_points;
        const std::string_view view = path_.leaf->view();
        const std::size_t from = ascii ? begin : utf8::offset_of_code_point(view, begin);
        const std::size_t size =
            ascii ? count.n : utf8::offset_of_code_point(view.substr(from), count.n);
        if (!erase_at_path(from, size)) erase_bytes(path_.bytes + from, size);
        return;
    }
    const std::size_t from = to_byte(at).n;
    erase_bytes(from, to_byte(at + count).n - from);
}

// Erases in place if the range lies in one leaf, then inserts. Both ends have to lie between code
// points: half of one would break every count of code points above it.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::splice(text::Byte at, text::Byte erase, std::string_view insert) {
    CHECK(erase.n <= total_.bytes && at.n <= total_.bytes - erase.n);
    CHECK(is_boundary(at) && is_boundary(at + erase));
    if (erase.n > 0) {
        const Found found = find<&TextSummary::bytes>(at.n);
        const bool here = at.n + erase.n <= found.before.bytes + found.size.bytes;
        if (here) descend<&TextSummary::bytes>(at.n + 1);
        if (!here || !erase_at_path(at.n - path_.bytes, erase.n)) erase_bytes(at.n, erase.n);
    }
    if (insert.empty()) return;
    if (root_ == nullptr) {
        *this = BasicRope(insert);
        return;
    }
    descend<&TextSummary::bytes>(at.n);
    insert_at_path(at.n - path_.bytes, insert, nullptr);
}

}  // namespace quire::seq

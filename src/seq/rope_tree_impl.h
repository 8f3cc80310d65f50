// Editing of BasicRope from the root. Included by rope_impl.h.
//
// The usual algorithms of a B+tree. An insertion walks down, owns every node on the way, and splits
// full nodes on the way back up. An erasure walks down both edges of the range, drops the children
// in between whole, and joins small neighbours on the way back. O(log n), plus the text that is
// moved within two leaves.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "seq/rope_node_impl.h"

namespace quire::seq {

// Inserts a text of any length, cut into pieces that fit into leaves. Text that is shown gets
// leaves of its own, so the leaf at the place is cut in two first. O(pieces · log n).
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::insert_bytes(std::size_t at, std::string_view utf8, Reel* reel) {
    path_.leaf = nullptr;
    const bool shows = reel != nullptr && utf8.size() >= kMuch;
    if (shows) insert_piece(at, {});
    // Leaves that show text have room for the first edit. A copied piece fits into either half of a
    // split chunk, of which the right may be three bytes longer than half.
    const std::size_t most = shows ? kChunk * 3 / 4 : kChunk / 2 - 4;
    while (!utf8.empty()) {
        std::size_t take = std::min(utf8.size(), most);
        while (take < utf8.size() && !utf8::is_boundary(utf8[take])) --take;
        insert_piece(at, {utf8.substr(0, take), reel, shows});
        at += take;
        utf8.remove_prefix(take);
    }
}

// Inserts one piece and adds a root if the old one was split. An empty piece only cuts a leaf.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::insert_piece(std::size_t at, const Piece& piece) {
    if (root_ == nullptr) {
        root_ = leaf_of(piece);
        total_ = TextSummary::of(piece.utf8);
        return;
    }
    TextSummary right_size;
    Node* right = insert_in(root_, total_, at, piece, right_size);
    if (right == nullptr) return;
    auto* root = new Inner(root_->height + 1U);
    root->insert(0, root_, total_);
    root->insert(1, right, right_size);
    root_ = root;
    total_ += right_size;
}

// A full leaf whose text continues in the following piece's reel shows its text from there. So a
// text that is typed or streamed into a tape ends up in the reel alone: its leaves hold copies only
// until the next one begins. The bytes in front of the piece are compared, because other text may
// stand there.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::seal(Node*& node, const Piece& next) {
    if (next.reel == nullptr || node->shows) return;
    const std::string_view text = text_of(node);
    const char* const end = next.utf8.data();
    if (static_cast<std::size_t>(end - next.reel->text()) < text.size()) return;
    const std::string_view there(end - text.size(), text.size());
    if (there != text) return;
    auto* shown = new Shown(there, next.reel);
    release(node);
    node = shown;
}

// Inserts into the leaf `node`, like insert_in(). In order: a cut at an edge does nothing; text
// that fits is copied in; text at the end of a full leaf, or shown text, becomes a leaf beside it;
// else the leaf is split in the middle, or where it is to be cut, and one half takes the text.
template <std::size_t kChunk, std::size_t kFan>
auto BasicRope<kChunk, kFan>::insert_in_leaf(Node*& node, TextSummary& size, std::size_t at,
                                             const Piece& piece, TextSummary& right_size) -> Node* {
    const bool cuts = piece.utf8.empty();
    const bool at_edge = at == 0 || at == node->count;
    if (cuts && at_edge) return nullptr;
    const TextSummary added = TextSummary::of(piece.utf8);
    if (!cuts && !piece.shows && node->count + piece.utf8.size() <= kChunk) {
        static_cast<Leaf*>(own(node))->splice(at, 0, piece.utf8);
        size += added;
        return nullptr;
    }
    if (!cuts && at == node->count) {
        // Text that is written front to back fills its chunks.
        seal(node, piece);
        right_size = added;
        return leaf_of(piece);
    }
    if (piece.shows) {
        CHECK(at == 0);
        Node* right = std::exchange(node, leaf_of(piece));
        right_size = std::exchange(size, added);
        return right;
    }
    auto* leaf = static_cast<Leaf*>(own(node));
    std::size_t cut = cuts ? at : leaf->count / 2;
    while (!utf8::is_boundary(leaf->text[cut])) --cut;
    auto* right = new Leaf();
    right->assign(leaf->view().substr(cut));
    leaf->count = static_cast<std::uint32_t>(cut);
    if (at <= cut) {
        leaf->splice(at, 0, piece.utf8);
    } else {
        right->splice(at - cut, 0, piece.utf8);
    }
    right_size = TextSummary::of(right->view());
    size = TextSummary::of(leaf->view());
    return right;
}

// Inserts below `node`. If it had to be split, returns the new right half, and `size` is the left
// half's. A place between two children belongs to the left one, so that appending extends its last
// leaf.
template <std::size_t kChunk, std::size_t kFan>
auto BasicRope<kChunk, kFan>::insert_in(Node*& node, TextSummary& size, std::size_t at,
                                        const Piece& piece, TextSummary& right_size) -> Node* {
    if (node->height == 0) return insert_in_leaf(node, size, at, piece, right_size);
    own(node);
    auto* inner = static_cast<Inner*>(node);
    std::size_t i = 0;
    while (i + 1 < inner->count && at > inner->sizes[i].bytes) at -= inner->sizes[i++].bytes;
    TextSummary child_right_size;
    size -= inner->sizes[i];
    Node* child_right = insert_in(inner->children[i], inner->sizes[i], at, piece, child_right_size);
    size += inner->sizes[i];
    if (child_right == nullptr) return nullptr;
    inner->insert(i + 1, child_right, child_right_size);
    size += child_right_size;
    if (inner->count <= kFan) return nullptr;
    // Appending leaves full nodes behind.
    const std::size_t keep = i + 2 == inner->count ? kFan : (kFan + 1) / 2;
    auto* right = new Inner(inner->height);
    for (std::size_t k = keep; k < inner->count; ++k) {
        right->insert(right->count, inner->children[k], inner->sizes[k]);
    }
    inner->count = static_cast<std::uint32_t>(keep);
    right_size = right->sum();
    size -= right_size;
    return right;
}

// Erases from the root, and drops roots that are left with one child.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::erase_bytes(std::size_t at, std::size_t count) {
    path_.leaf = nullptr;
    if (count == total_.bytes) {
        release(root_);
        root_ = nullptr;
        total_ = {};
        return;
    }
    erase_in(root_, total_, at, at + count);
    while (root_->height > 0 && root_->count == 1) {
        Node* child = static_cast<Inner*>(root_)->children[0];
        retain(child);
        release(root_);
        root_ = child;
    }
}

// Requires that [begin, end) is part of the node and not all of it: children that go whole are
// released here, and only those at the two edges are entered. Copies no node outside of these two
// paths.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::erase_in(Node*& node, TextSummary& size, std::size_t begin,
                                       std::size_t end) {
    own(node);
    if (node->height == 0) {
        auto* leaf = static_cast<Leaf*>(node);
        size -= TextSummary::of(leaf->view().substr(begin, end - begin));
        leaf->splice(begin, end - begin, {});
        return;
    }
    auto* inner = static_cast<Inner*>(node);
    std::size_t at = 0;
    std::size_t i = 0;
    std::size_t touched = 0;
    while (i < inner->count && at < end) {
        const std::size_t next = at + inner->sizes[i].bytes;
        if (next <= begin) {
            at = next;
            ++i;
        } else if (begin <= at && next <= end) {
            release(inner->children[i]);
            inner->remove(i);
            at = next;
            touched = i;
        } else {
            erase_in(inner->children[i], inner->sizes[i], std::max(begin, at) - at,
                     std::min(end, next) - at);
            touched = i;
            at = next;
            ++i;
        }
    }
    // A node that shrank is joined with its neighbours if two of them fit into one.
    const std::size_t from = touched < 2 ? 0 : touched - 2;
    for (std::size_t k = from, steps = 0; k + 1 < inner->count && k <= touched + 1 && steps < 4;
         ++steps) {
        if (merge(inner->children[k], inner->children[k + 1])) {
            inner->sizes[k] += inner->sizes[k + 1];
            inner->remove(k + 1);
        } else {
            ++k;
        }
    }
    size = inner->sum();
}

// Moves the content of `right` into `left` if both fit into one node; the caller then drops
// `right`. Leaves are joined up to three quarters only, so that the next insertion does not split
// them again.
template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::merge(Node*& left, Node* right) {
    if (left->height == 0) {
        if (left->count + right->count > kChunk * 3 / 4) return false;
        auto* into = static_cast<Leaf*>(own(left));
        into->splice(into->count, 0, text_of(right));
    } else {
        if (left->count + right->count > kFan) return false;
        auto* into = static_cast<Inner*>(own(left));
        auto* from = static_cast<Inner*>(right);
        for (std::size_t i = 0; i < from->count; ++i) {
            retain(from->children[i]);
            into->insert(into->count, from->children[i], from->sizes[i]);
        }
    }
    release(right);
    return true;
}

}  // namespace quire::seq

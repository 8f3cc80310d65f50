// The bodies of BasicRope, included by rope.cc and by tests that want other constants.
//
//   Inner   [size, child] [size, child] ...
//                 |             |
//           Leaf (text)   Shown (text in a reel)
//
// Each inner node stores the sizes of its children in all units, so a search in any unit is one
// walk down. Nodes are counted; own() copies a node before a write if another rope shares it, which
// is what makes a copy of a rope O(1) and a later edit O(log n).
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "seq/rope.h"
#include "seq/tape.h"

namespace quire::seq {

template <std::size_t kChunk, std::size_t kFan>
struct BasicRope<kChunk, kFan>::Node {
    explicit Node(std::uint16_t h, bool s = false) : height(h), shows(s) {}
    std::atomic<std::uint32_t> refs{1};
    std::uint16_t height;  // 0 means a leaf.
    bool shows;            // The node is a Shown.
    // Bytes of a leaf, or children of an inner node.
    std::uint32_t count = 0;
};

template <std::size_t kChunk, std::size_t kFan>
struct BasicRope<kChunk, kFan>::Leaf : Node {
    Leaf() : Node(0) {}
    std::string_view view() const { return {text, this->count}; }
    void assign(std::string_view from) {
        std::memcpy(text, from.data(), from.size());
        this->count = static_cast<std::uint32_t>(from.size());
    }
    // Replaces [at, at + erase) by `insert`, which must fit.
    void splice(std::size_t at, std::size_t erase, std::string_view insert) {
        std::memmove(text + at + insert.size(), text + at + erase, this->count - at - erase);
        if (!insert.empty()) std::memcpy(text + at, insert.data(), insert.size());
        this->count = static_cast<std::uint32_t>(this->count + insert.size() - erase);
    }
    char text[kChunk];
};

// A leaf whose text, at most kChunk bytes, lies in a reel. Never changed.
template <std::size_t kChunk, std::size_t kFan>
struct BasicRope<kChunk, kFan>::Shown : Node {
    Shown(std::string_view utf8, Reel* from) : Node(0, true), text(utf8.data()), reel(from) {
        this->count = static_cast<std::uint32_t>(utf8.size());
        reel->retain();
        reel->show(static_cast<std::size_t>(utf8.data() - from->text()) + utf8.size());
    }
    const char* text;
    Reel* reel;
};

template <std::size_t kChunk, std::size_t kFan>
std::string_view BasicRope<kChunk, kFan>::text_of(const Node* leaf) {
    return {
        leaf->shows ? static_cast<const Shown*>(leaf)->text : static_cast<const Leaf*>(leaf)->text,
        leaf->count};
}

template <std::size_t kChunk, std::size_t kFan>
auto BasicRope<kChunk, kFan>::leaf_of(const Piece& piece) -> Node* {
    if (piece.shows) return new Shown(piece.utf8, piece.reel);
    auto* leaf = new Leaf();
    leaf->assign(piece.utf8);
    return leaf;
}

template <std::size_t kChunk, std::size_t kFan>
struct BasicRope<kChunk, kFan>::Inner : Node {
    explicit Inner(std::uint32_t h) : Node(static_cast<std::uint16_t>(h)) {}
    // One child more than allowed, so that the split can follow the insertion.
    TextSummary sizes[kFan + 1];
    Node* children[kFan + 1];

    void insert(std::size_t at, Node* child, const TextSummary& size) {
        for (std::size_t i = this->count; i > at; --i) {
            sizes[i] = sizes[i - 1];
            children[i] = children[i - 1];
        }
        sizes[at] = size;
        children[at] = child;
        ++this->count;
    }
    void remove(std::size_t at) {
        for (std::size_t i = at + 1; i < this->count; ++i) {
            sizes[i - 1] = sizes[i];
            children[i - 1] = children[i];
        }
        --this->count;
    }
    TextSummary sum() const {
        TextSummary total;
        for (std::size_t i = 0; i < this->count; ++i) total += sizes[i];
        return total;
    }
};

template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::retain(Node* node) {
    if (node != nullptr) node->refs.fetch_add(1, std::memory_order_relaxed);
}

template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::release(Node* node) {
    if (node == nullptr || node->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (node->shows) {
        static_cast<Shown*>(node)->reel->release();
        delete static_cast<Shown*>(node);
        return;
    }
    if (node->height == 0) {
        delete static_cast<Leaf*>(node);
        return;
    }
    auto* inner = static_cast<Inner*>(node);
    for (std::size_t i = 0; i < inner->count; ++i) release(inner->children[i]);
    delete inner;
}

template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::is_unique(const Node* node) {
    return node->refs.load(std::memory_order_acquire) == 1;
}

// Makes `node` writable for this rope: copies it if it is shared or only shows text.
template <std::size_t kChunk, std::size_t kFan>
auto BasicRope<kChunk, kFan>::own(Node*& node) -> Node* {
    if (is_unique(node) && !node->shows) return node;
    Node* copy = nullptr;
    if (node->height == 0) {
        copy = leaf_of({text_of(node)});
    } else {
        const auto* from = static_cast<Inner*>(node);
        auto* inner = new Inner(from->height);
        for (std::size_t i = 0; i < from->count; ++i) {
            retain(from->children[i]);
            inner->insert(i, from->children[i], from->sizes[i]);
        }
        copy = inner;
    }
    release(node);
    node = copy;
    return copy;
}

template <std::size_t kChunk, std::size_t kFan>
BasicRope<kChunk, kFan>::BasicRope(std::string_view text) {
    if (!text.empty()) build(text, nullptr, root_, total_);
}

// The tree of a text that is not empty.
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

template <std::size_t kChunk, std::size_t kFan>
BasicRope<kChunk, kFan>::BasicRope(const BasicRope& other)
    : root_(other.root_), total_(other.total_) {
    retain(root_);
}

template <std::size_t kChunk, std::size_t kFan>
BasicRope<kChunk, kFan>::BasicRope(BasicRope&& other) noexcept
    : root_(std::exchange(other.root_, nullptr)), total_(std::exchange(other.total_, {})) {
    other.path_.leaf = nullptr;
}

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

// --- reading ---

// The leaf in which `at` units of the metric have passed: the first whose end is beyond `at`, or
// the last one.
template <std::size_t kChunk, std::size_t kFan>
template <std::size_t TextSummary::*kMetric>
auto BasicRope<kChunk, kFan>::find(std::size_t at) const -> Found {
    Found found;
    const Node* node = root_;
    found.size = total_;
    while (node->height > 0) {
        const auto* inner = static_cast<const Inner*>(node);
        std::size_t i = 0;
        while (i + 1 < inner->count && found.before.*kMetric + inner->sizes[i].*kMetric <= at) {
            found.before += inner->sizes[i++];
        }
        found.size = inner->sizes[i];
        node = inner->children[i];
    }
    found.leaf = node;
    return found;
}

template <std::size_t kChunk, std::size_t kFan>
text::Line BasicRope<kChunk, kFan>::lines() const {
    return {total_.newlines + (empty() || ends_with_newline() ? 0 : 1)};
}

template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::ends_with_newline() const {
    return !empty() && text_of(find<&TextSummary::bytes>(total_.bytes).leaf).back() == '\n';
}

template <std::size_t kChunk, std::size_t kFan>
std::size_t BasicRope<kChunk, kFan>::crlfs() const {
    std::size_t count = 0;
    char last = 0;
    for_each_chunk({0}, bytes(), [&](std::string_view chunk) {
        for (const char byte : chunk) {
            count += byte == '\n' && last == '\r' ? 1 : 0;
            last = byte;
        }
        return true;
    });
    return count;
}

template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::is_boundary(text::Byte at) const {
    if (at.n >= total_.bytes) return at.n == total_.bytes;
    const Found found = find<&TextSummary::bytes>(at.n);
    return utf8::is_boundary(text_of(found.leaf)[at.n - found.before.bytes]);
}

template <std::size_t kChunk, std::size_t kFan>
text::Byte BasicRope<kChunk, kFan>::to_byte(text::CodePoint at) const {
    if (at.n >= total_.code_points) return bytes();
    const Found found = find<&TextSummary::code_points>(at.n);
    const std::size_t index = at.n - found.before.code_points;
    if (found.size.bytes == found.size.code_points) return {found.before.bytes + index};
    return {found.before.bytes + utf8::offset_of_code_point(text_of(found.leaf), index)};
}

template <std::size_t kChunk, std::size_t kFan>
text::Byte BasicRope<kChunk, kFan>::to_byte(text::Utf16 at) const {
    if (at.n >= total_.utf16) return bytes();
    const Found found = find<&TextSummary::utf16>(at.n);
    const std::string_view view = text_of(found.leaf);
    std::size_t units = found.before.utf16;
    std::size_t i = 0;
    while (i < view.size()) {
        std::size_t next = i;
        units += utf8::decode(view, next) >= 0x10000 ? 2 : 1;
        if (units > at.n) break;
        i = next;
    }
    return {found.before.bytes + i};
}

template <std::size_t kChunk, std::size_t kFan>
text::CodePoint BasicRope<kChunk, kFan>::to_code_point(text::Byte at) const {
    if (at.n >= total_.bytes) return code_points();
    const Found found = find<&TextSummary::bytes>(at.n);
    const std::size_t offset = at.n - found.before.bytes;
    if (found.size.bytes == found.size.code_points) return {found.before.code_points + offset};
    const std::string_view view = text_of(found.leaf);
    const std::size_t count =
        found.before.code_points + utf8::count_code_points(view.substr(0, offset));
    return {utf8::is_boundary(view[offset]) ? count : count - 1};
}

template <std::size_t kChunk, std::size_t kFan>
text::Utf16 BasicRope<kChunk, kFan>::to_utf16(text::Byte at) const {
    if (at.n >= total_.bytes) return utf16();
    const Found found = find<&TextSummary::bytes>(at.n);
    const std::string_view view = text_of(found.leaf);
    std::size_t offset = at.n - found.before.bytes;
    while (!utf8::is_boundary(view[offset])) --offset;
    return {found.before.utf16 + utf8::count_utf16(view.substr(0, offset))};
}

template <std::size_t kChunk, std::size_t kFan>
text::Line BasicRope<kChunk, kFan>::to_line(text::Byte at) const {
    if (at.n >= total_.bytes) return {total_.newlines};
    const Found found = find<&TextSummary::bytes>(at.n);
    const std::string_view before = text_of(found.leaf).substr(0, at.n - found.before.bytes);
    return {found.before.newlines +
            static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'))};
}

template <std::size_t kChunk, std::size_t kFan>
text::Byte BasicRope<kChunk, kFan>::line_start(text::Line line) const {
    if (line.n == 0) return {0};
    if (line.n > total_.newlines) return bytes();
    // A line begins after newline number line - 1.
    const Found found = find<&TextSummary::newlines>(line.n - 1);
    const std::string_view view = text_of(found.leaf);
    std::size_t left = line.n - found.before.newlines;
    std::size_t i = 0;
    while (left > 0) {
        i = view.find('\n', i) + 1;
        --left;
    }
    return {found.before.bytes + i};
}

template <std::size_t kChunk, std::size_t kFan>
std::string BasicRope<kChunk, kFan>::str() const {
    return slice({0}, bytes());
}

template <std::size_t kChunk, std::size_t kFan>
std::string BasicRope<kChunk, kFan>::slice(text::Byte begin, text::Byte end) const {
    CHECK(begin <= end && end <= bytes());
    std::string out;
    out.reserve(end.n - begin.n);
    for_each_chunk(begin, end, [&](std::string_view chunk) {
        out.append(chunk);
        return true;
    });
    return out;
}

template <std::size_t kChunk, std::size_t kFan>
std::string BasicRope<kChunk, kFan>::line(text::Line line) const {
    return slice(line_start(line), line_start({line.n + 1}));
}

template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::visit(const Node* node, std::size_t begin, std::size_t end,
                                    Function<bool(std::string_view)>& take) {
    if (node->height == 0) return take(text_of(node).substr(begin, end - begin));
    const auto* inner = static_cast<const Inner*>(node);
    std::size_t at = 0;
    for (std::size_t i = 0; i < inner->count && at < end; ++i) {
        const std::size_t next = at + inner->sizes[i].bytes;
        if (next > begin) {
            const std::size_t from = std::max(begin, at) - at;
            if (!visit(inner->children[i], from, std::min(end, next) - at, take)) return false;
        }
        at = next;
    }
    return true;
}

template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::for_each_chunk(text::Byte begin, text::Byte end,
                                             Function<bool(std::string_view)> take) const {
    if (begin < end) static_cast<void>(visit(root_, begin.n, end.n, take));
}

template <std::size_t kChunk, std::size_t kFan>
std::size_t BasicRope<kChunk, kFan>::shown_below(const Node* node) {
    if (node->height == 0) return node->shows ? node->count : 0;
    const auto* inner = static_cast<const Inner*>(node);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < inner->count; ++i) sum += shown_below(inner->children[i]);
    return sum;
}

template <std::size_t kChunk, std::size_t kFan>
std::size_t BasicRope<kChunk, kFan>::shown_bytes() const {
    return root_ == nullptr ? 0 : shown_below(root_);
}

template <std::size_t kChunk, std::size_t kFan>
TextSummary BasicRope<kChunk, kFan>::check(const Node* node) {
    if (node->height == 0) {
        const std::string_view view = text_of(node);
        if (node->shows) {
            const Reel* reel = static_cast<const Shown*>(node)->reel;
            CHECK(view.data() >= reel->text());
            CHECK(view.data() + view.size() <= reel->text() + reel->capacity());
        }
        CHECK(!view.empty() && view.size() <= kChunk && utf8::is_valid(view));
        return TextSummary::of(view);
    }
    const auto* inner = static_cast<const Inner*>(node);
    CHECK(inner->count >= 1 && inner->count <= kFan);
    for (std::size_t i = 0; i < inner->count; ++i) {
        CHECK(inner->children[i]->height + 1 == inner->height);
        CHECK(check(inner->children[i]) == inner->sizes[i]);
    }
    return inner->sum();
}

template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::check_invariants() const {
    CHECK((root_ == nullptr) == empty());
    CHECK((root_ == nullptr ? TextSummary{} : check(root_)) == total_);
    if (path_.leaf != nullptr && path_holds()) {
        const Found found = find<&TextSummary::bytes>(path_.bytes);
        CHECK(found.leaf == path_.leaf && !path_.leaf->shows);
        CHECK(found.before.bytes == path_.bytes);
        CHECK(found.before.code_points == path_.code_points && found.size == path_.size);
    }
}

}  // namespace quire::seq

#include "seq/rope_edit_impl.h"

// Reading of BasicRope. Included by rope_impl.h.
//
// Every question is one walk from the root: at each node the sizes of the children, in the unit of
// the question, tell which child to enter. O(log n), plus the bytes looked at within one leaf.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "seq/rope_node_impl.h"

namespace quire::seq {

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

// A last line without newline counts as well.
template <std::size_t kChunk, std::size_t kFan>
text::Line BasicRope<kChunk, kFan>::lines() const {
    return {total_.newlines + (empty() || ends_with_newline() ? 0 : 1)};
}

template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::ends_with_newline() const {
    return !empty() && text_of(find<&TextSummary::bytes>(total_.bytes).leaf).back() == '\n';
}

// Counts below nodes that were written since the last time; others have the answer kept. A pair
// that straddles two leaves is found by the bytes at their ends.
template <std::size_t kChunk, std::size_t kFan>
CrlfCount BasicRope<kChunk, kFan>::crlfs_below(const Node* node) {
    if (node->height == 0) return CrlfCount::of(text_of(node));
    const auto* inner = static_cast<const Inner*>(node);
    if (const auto known = inner->known()) return *known;
    CrlfCount count = crlfs_below(inner->children[0]);
    for (std::size_t i = 1; i < inner->count; ++i) count.append(crlfs_below(inner->children[i]));
    inner->remember(count);
    return count;
}

template <std::size_t kChunk, std::size_t kFan>
std::size_t BasicRope<kChunk, kFan>::crlfs() const {
    return root_ == nullptr ? 0 : crlfs_below(root_).crlfs;
}

template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::is_boundary(text::Byte at) const {
    if (at.n >= total_.bytes) return at.n == total_.bytes;
    const Found found = find<&TextSummary::bytes>(at.n);
    return utf8::is_boundary(text_of(found.leaf)[at.n - found.before.bytes]);
}

// The conversions find the leaf and count within it. In a leaf of ASCII nothing has to be counted.
template <std::size_t kChunk, std::size_t kFan>
text::Byte BasicRope<kChunk, kFan>::to_byte(text::CodePoint at) const {
    if (at.n >= total_.code_points) return bytes();
    const Found found = find<&TextSummary::code_points>(at.n);
    const std::size_t index = at.n - found.before.code_points;
    if (found.size.bytes == found.size.code_points) return {found.before.bytes + index};
    return {found.before.bytes + utf8::offset_of_code_point(text_of(found.leaf), index)};
}

// A position within a surrogate pair gives the code point's first byte.
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

// A byte within a code point counts that one as begun, and it is taken off again: round down.
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

// Finds the newline that ends the line before.
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

// line_start() of a line beyond the last is the end, so the last line needs no case of its own.
template <std::size_t kChunk, std::size_t kFan>
std::string BasicRope<kChunk, kFan>::line(text::Line line) const {
    return slice(line_start(line), line_start({line.n + 1}));
}

// Passes the bytes [begin, end) below `node` to `take`, chunk by chunk; false once it returns
// false. Positions count from the beginning of the node. The recursion is as deep as the tree.
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

// Checks the node and everything below it, and returns its size.
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
    if (const auto known = inner->known()) {
        CrlfCount count = crlfs_below(inner->children[0]);
        for (std::size_t i = 1; i < inner->count; ++i)
            count.append(crlfs_below(inner->children[i]));
        CHECK(count.crlfs == known->crlfs && count.first == known->first);
        CHECK(count.last == known->last);
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

// The bytes that two nodes share from one side; `size` is that of `a`. Trees of unequal height are
// compared after going down the side of the higher one. Below a pair of children that differ
// nothing further can be told, so one path is walked: O(kFan · log n).
template <std::size_t kChunk, std::size_t kFan>
template <bool kFromStart>
std::size_t BasicRope<kChunk, kFan>::shared_part(const Node* a, const Node* b, std::size_t size) {
    if (a == b) return size;
    const auto nth = [](const Node* node, std::uint32_t i) {
        return kFromStart ? i : node->count - 1 - i;
    };
    if (a->height > b->height) {
        const auto* const inner = static_cast<const Inner*>(a);
        const std::uint32_t first = nth(a, 0);
        return shared_part<kFromStart>(inner->children[first], b, inner->sizes[first].bytes);
    }
    if (a->height < b->height) {
        const auto* const inner = static_cast<const Inner*>(b);
        return shared_part<kFromStart>(a, inner->children[nth(b, 0)], size);
    }
    if (a->height == 0) return 0;
    const auto* const left = static_cast<const Inner*>(a);
    const auto* const right = static_cast<const Inner*>(b);
    std::size_t sum = 0;
    for (std::uint32_t i = 0; i < std::min(a->count, b->count); ++i) {
        const Node* const one = left->children[nth(a, i)];
        const Node* const other = right->children[nth(b, i)];
        const std::size_t bytes = left->sizes[nth(a, i)].bytes;
        if (one != other) return sum + shared_part<kFromStart>(one, other, bytes);
        sum += bytes;
    }
    return sum;
}

// A repetition may be found from both sides, so the end gets only what the start has left.
template <std::size_t kChunk, std::size_t kFan>
auto BasicRope<kChunk, kFan>::shared_ends(const BasicRope& a, const BasicRope& b) -> SharedEnds {
    if (a.root_ == nullptr || b.root_ == nullptr) return {};
    SharedEnds out;
    out.start = shared_part<true>(a.root_, b.root_, a.total_.bytes);
    const std::size_t left = std::min(a.total_.bytes, b.total_.bytes) - out.start;
    out.end = std::min(left, shared_part<false>(a.root_, b.root_, a.total_.bytes));
    return out;
}

}  // namespace quire::seq

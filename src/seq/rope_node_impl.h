// The nodes of BasicRope. Included by rope_impl.h.
//
//   Inner   [size, child] [size, child] ...
//                 |             |
//           Leaf (text)   Shown (text in a reel)
//
// Nodes are counted. A node that is referred to once is its rope's alone and may be written; own()
// copies any other first. That makes copying a rope O(1), and the first edit after it O(log n).
#pragma once

#include <atomic>
#include <cstring>
#include <optional>
#include <string_view>

#include "seq/rope.h"
#include "seq/tape.h"

namespace quire::seq {

// The common part of all nodes. The rope and every parent hold one reference each.
template <std::size_t kChunk, std::size_t kFan>
struct BasicRope<kChunk, kFan>::Node {
    explicit Node(std::uint16_t h, bool s = false) : height(h), shows(s) {}
    std::atomic<std::uint32_t> refs{1};
    std::uint16_t height;  // 0 means a leaf.
    bool shows;            // The node is a Shown.
    // Bytes of a leaf, or children of an inner node.
    std::uint32_t count = 0;
};

// A leaf with its own text. It is written in place while it has one owner, so the text has room to
// grow up to kChunk bytes from the start.
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

// A leaf whose text, at most kChunk bytes, lies in a reel. Never changed: own() makes a Leaf of it
// first. The constructor marks its bytes as shown, so that the tape never overwrites them.
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

// The text of either kind of leaf.
template <std::size_t kChunk, std::size_t kFan>
std::string_view BasicRope<kChunk, kFan>::text_of(const Node* leaf) {
    return {
        leaf->shows ? static_cast<const Shown*>(leaf)->text : static_cast<const Leaf*>(leaf)->text,
        leaf->count};
}

// A new leaf that shows the piece or holds a copy of it.
template <std::size_t kChunk, std::size_t kFan>
auto BasicRope<kChunk, kFan>::leaf_of(const Piece& piece) -> Node* {
    if (piece.shows) return new Shown(piece.utf8, piece.reel);
    auto* leaf = new Leaf();
    leaf->assign(piece.utf8);
    return leaf;
}

// The "\r\n" of a text, and the bytes at its ends: two texts side by side may make one more.
struct CrlfCount {
    std::uint32_t crlfs = 0;
    unsigned char first = 0;
    unsigned char last = 0;

    // Requires that the text is not empty. O(n).
    static CrlfCount of(std::string_view text) {
        CrlfCount count{0, static_cast<unsigned char>(text.front()),
                        static_cast<unsigned char>(text.back())};
        for (std::size_t at = text.find('\r'); at != std::string_view::npos;
             at = text.find('\r', at + 1)) {
            count.crlfs += at + 1 < text.size() && text[at + 1] == '\n' ? 1 : 0;
        }
        return count;
    }
    void append(const CrlfCount& next) {
        crlfs += next.crlfs + (last == '\r' && next.first == '\n' ? 1U : 0U);
        last = next.last;
    }
};

// A node with children of equal height, and the size of each in all units.
template <std::size_t kChunk, std::size_t kFan>
struct BasicRope<kChunk, kFan>::Inner : Node {
    explicit Inner(std::uint32_t h) : Node(static_cast<std::uint16_t>(h)) {}
    // The CrlfCount of the text below, once somebody has asked: whoever writes to the node forgets it.
    // It is no part of the sizes because an edit between '\r' and '\n' would change more than it adds.
    // Readers of snapshots in several threads may store it, and store the same.
    mutable std::atomic<std::uint64_t> crlfs{0};

    // Relaxed: the value depends on nothing but the node's text, which a writer owns alone.
    void forget() { crlfs.store(0, std::memory_order_relaxed); }
    // The lowest bit tells a stored count from none.
    std::optional<CrlfCount> known() const {
        const std::uint64_t packed = crlfs.load(std::memory_order_relaxed);
        if (packed == 0) return std::nullopt;
        return CrlfCount{static_cast<std::uint32_t>(packed >> 32),
                         static_cast<unsigned char>(packed >> 8),
                         static_cast<unsigned char>(packed >> 16)};
    }
    void remember(const CrlfCount& found) const {
        const std::uint64_t packed = std::uint64_t{found.crlfs} << 32 |
                                     std::uint64_t{found.last} << 16 |
                                     std::uint64_t{found.first} << 8 | 1;
        crlfs.store(packed, std::memory_order_relaxed);
    }

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
    // Takes the child out of the list; its reference is the caller's to drop.
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

// Another rope or node refers to the node.
template <std::size_t kChunk, std::size_t kFan>
void BasicRope<kChunk, kFan>::retain(Node* node) {
    if (node != nullptr) node->refs.fetch_add(1, std::memory_order_relaxed);
}

// Drops one reference; the last one deletes the node and releases its children or its reel. The
// recursion is as deep as the tree.
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

// True if nothing else refers to the node. The acquire pairs with the release in another thread
// that dropped its snapshot: what it read is over before this one writes.
template <std::size_t kChunk, std::size_t kFan>
bool BasicRope<kChunk, kFan>::is_unique(const Node* node) {
    return node->refs.load(std::memory_order_acquire) == 1;
}

// Makes `node` writable for this rope: copies it if it is shared or only shows text.
template <std::size_t kChunk, std::size_t kFan>
auto BasicRope<kChunk, kFan>::own(Node*& node) -> Node* {
    if (is_unique(node) && !node->shows) {
        if (node->height > 0) static_cast<Inner*>(node)->forget();
        return node;
    }
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

}  // namespace quire::seq

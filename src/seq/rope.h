// Rope: UTF-8 text that can be edited anywhere and addressed in bytes, code points, UTF-16 units
// and lines, all in O(log n).
//
// A line is the bytes up to and including '\n'; "\r\n" is one terminator, a lone '\r' is text; a
// last segment without terminator is a line. line_count("") = 0, "a" = 1, "a\n" = 1,
// "a\n\n" = 2.
//
// A B+tree of text chunks whose nodes are shared between copies and copied before writing. Copying
// is O(1) and yields an immutable snapshot that another thread may read during further edits.
// Otherwise thread-confined.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/function.h"
#include "text/units.h"

namespace quire::seq {

class Reel;
struct CrlfCount;

// The size of a stretch of text in all units. Sums are exact: no code point straddles two chunks.
struct TextSummary {
    std::size_t bytes = 0;
    std::size_t code_points = 0;
    std::size_t utf16 = 0;
    std::size_t newlines = 0;

    // Counts the text in all units. Requires well-formed UTF-8. O(n).
    static TextSummary of(std::string_view text);
    TextSummary& operator+=(const TextSummary& other) {
        bytes += other.bytes;
        code_points += other.code_points;
        utf16 += other.utf16;
        newlines += other.newlines;
        return *this;
    }
    TextSummary& operator-=(const TextSummary& other) {
        bytes -= other.bytes;
        code_points -= other.code_points;
        utf16 -= other.utf16;
        newlines -= other.newlines;
        return *this;
    }
    friend bool operator==(const TextSummary&, const TextSummary&) = default;
};

// The rope with open constants, so that tests can build deep trees from little text: `kChunk` bytes
// per leaf (at least 16), `kFan` children per node (at least 2).
//
// A leaf holds its text, or shows text of a reel (tape.h) until it is edited; edits only write
// leaves that hold their text.
template <std::size_t kChunk, std::size_t kFan>
class BasicRope {
public:
    BasicRope() = default;
    explicit BasicRope(
        std::string_view text);  // Requires well-formed UTF-8, as does insert(). O(n).
    BasicRope(const BasicRope& other);
    BasicRope(BasicRope&& other) noexcept;
    BasicRope& operator=(const BasicRope& other);
    BasicRope& operator=(BasicRope&& other) noexcept;
    ~BasicRope();

    // Sizes in each unit. O(1), except lines() and ends_with_newline(), which look at the last
    // leaf in O(log n).
    text::Byte bytes() const { return {total_.bytes}; }
    text::CodePoint code_points() const { return {total_.code_points}; }
    text::Utf16 utf16() const { return {total_.utf16}; }
    text::Line lines() const;  // The line_count above.
    bool empty() const { return total_.bytes == 0; }
    bool ends_with_newline() const;  // False for "".
    std::size_t newlines() const { return total_.newlines; }
    // The number of newlines after a '\r'. O(n) at first; asked again, O(log n) for each edit since.
    std::size_t crlfs() const;

    // Positions at the end are allowed; positions beyond it, or inside a code point for splice(),
    // are broken promises of the caller. Conversions round down to the start of the code point. An
    // edit next to the one before costs O(1) plus the text moved within one chunk.
    //
    // Text in a `reel` is shown from there, not copied, if that is worth a leaf: for a large
    // insertion, or when text appended piece by piece has filled one.
    void insert(text::CodePoint at, std::string_view utf8, Reel* reel = nullptr);
    void erase(text::CodePoint at, text::CodePoint count);
    void splice(text::Byte at, text::Byte erase, std::string_view insert);

    // Returns true if `at` is the first byte of a code point or the end of the text. O(log n).
    bool is_boundary(text::Byte at) const;
    // Conversions between units, O(log n) and a scan of one leaf. A leaf of ASCII needs no scan.
    // Positions beyond the end give the end.
    text::Byte to_byte(text::CodePoint at) const;
    text::Byte to_byte(text::Utf16 at) const;
    text::CodePoint to_code_point(text::Byte at) const;
    text::Utf16 to_utf16(text::Byte at) const;
    text::Line to_line(text::Byte at) const;  // The line that contains the byte.
    // The start of the line; bytes() for lines() and beyond.
    text::Byte line_start(text::Line line) const;
    // The number of bytes that belong to reels. O(n).
    std::size_t shown_bytes() const;

    // Copies of the text, or of a part of it. O(log n + size). Requires begin <= end <= bytes().
    std::string str() const;
    std::string slice(text::Byte begin, text::Byte end) const;
    std::string line(text::Line line) const;  // Includes its terminator.
    // Calls `take` with the chunks of [begin, end) in order, until it returns false; views are
    // valid until the rope changes.
    void for_each_chunk(text::Byte begin, text::Byte end,
                        Function<bool(std::string_view)> take) const;

    // CHECKs every structural invariant. O(n).
    void check_invariants() const;

    // Bytes at the start and at the end that two ropes share, found by the nodes that are in both:
    // more may be alike. The two parts do not overlap in either rope. O(log n) for a copy that few
    // edits tell from its original.
    struct SharedEnds {
        std::size_t start = 0;
        std::size_t end = 0;
    };
    static SharedEnds shared_ends(const BasicRope& a, const BasicRope& b);

    friend bool operator==(const BasicRope& a, const BasicRope& b) {
        return a.total_ == b.total_ && (a.root_ == b.root_ || a.str() == b.str());
    }

private:
    static_assert(kChunk >= 16 && kFan >= 2);
    static constexpr std::size_t kMaxDepth = 40;
    // An insertion of at least this size is shown: it may leave two leaves half empty.
    static constexpr std::size_t kMuch = 2 * kChunk;

    struct Node;
    struct Leaf;
    struct Shown;
    struct Inner;
    // The place of the last edit: the nodes from the root to a leaf, and the size of the text
    // before that leaf. Valid only while this rope owns every node on the path alone.
    struct Steps {
        std::array<Inner*, kMaxDepth> nodes;
        std::array<std::uint32_t, kMaxDepth> slots;
    };
    // The leaf that was edited last, and how to get there. `leaf` is null while there is no such
    // place.
    struct Path {
        std::unique_ptr<Steps> steps;  // Made with the first path that has any.
        std::size_t depth = 0;
        Leaf* leaf = nullptr;
        TextSummary size;  // Size of the leaf.
        std::size_t bytes = 0;
        std::size_t code_points = 0;
    };
    // A leaf that was searched for.
    struct Found {
        const Node* leaf = nullptr;
        TextSummary before;  // All text before the leaf.
        TextSummary size;    // Size of the leaf.
    };

    static void retain(Node* node);
    static void release(Node* node);
    // True if only one rope or node refers to the node, so that it may be written.
    static bool is_unique(const Node* node);
    // Makes the node writable, by a copy if anybody else may read it.
    static Node* own(Node*& node);
    static std::string_view text_of(const Node* leaf);
    // One insertion step: text to copy, text to show as a leaf of its own behind the one that ends
    // there, or nothing, which splits a leaf in two at the place.
    struct Piece {
        std::string_view utf8;
        Reel* reel = nullptr;
        bool shows = false;
    };
    static Node* leaf_of(const Piece& piece);
    // Builds a whole tree bottom up. With a reel, the leaves show the text there. O(n).
    static void build(std::string_view text, Reel* reel, Node*& root, TextSummary& total);

    template <std::size_t TextSummary::*kMetric>
    // The leaf that holds position `at` of a metric. Requires that the rope is not empty.
    Found find(std::size_t at) const;
    // True if the path may be written: no snapshot shares a node on it. O(depth).
    bool path_holds() const;
    template <std::size_t TextSummary::*kMetric>
    // Sets the path, and owns its nodes on the way.
    void descend(std::size_t at);
    void add_on_path(const TextSummary& added);
    void subtract_on_path(const TextSummary& removed);
    void insert_at_path(std::size_t offset, std::string_view utf8, Reel* reel);
    // Edits from the root; the path is lost.
    void insert_bytes(std::size_t at, std::string_view utf8, Reel* reel);
    void insert_piece(std::size_t at, const Piece& piece);
    void erase_bytes(std::size_t at, std::size_t count);
    bool erase_at_path(std::size_t offset, std::size_t count);
    // Each returns the new right half if the node had to be split, else null; `size` and
    // `right_size` are brought up to date.
    static Node* insert_in(Node*& node, TextSummary& size, std::size_t at, const Piece& piece,
                           TextSummary& right_size);
    static Node* insert_in_leaf(Node*& node, TextSummary& size, std::size_t at, const Piece& piece,
                                TextSummary& right_size);
    static void seal(Node*& node, const Piece& next);
    static void erase_in(Node*& node, TextSummary& size, std::size_t begin, std::size_t end);
    // Joins two neighbours if they fit into one node.
    static bool merge(Node*& left, Node* right);
    static bool visit(const Node* node, std::size_t begin, std::size_t end,
                      Function<bool(std::string_view)>& take);
    static std::size_t shown_below(const Node* node);
    static CrlfCount crlfs_below(const Node* node);
    template <bool kFromStart>
    static std::size_t shared_part(const Node* a, const Node* b, std::size_t size);
    static TextSummary check(const Node* node);

    Node* root_ = nullptr;  // Null if the rope is empty.
    TextSummary total_;
    Path path_;
};

extern template class BasicRope<1024, 16>;

class Rope final : public BasicRope<1024, 16> {
public:
    using BasicRope::BasicRope;
};

}  // namespace quire::seq

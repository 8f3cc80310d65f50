#include "seq/rope.h"

#include <cstdlib>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "seq/rope_impl.h"
#include "seq/tape.h"

namespace quire::seq {

// Two children a node, sixteen bytes a chunk: a few words make a deep tree.
template class BasicRope<16, 2>;
template class BasicRope<24, 3>;

namespace {

using Tiny = BasicRope<16, 2>;

std::string numbered_lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
}

TEST(Rope, CountsLinesByTheirTerminators) {
    EXPECT_EQ(Rope("").lines().n, 0U);
    EXPECT_EQ(Rope("a").lines().n, 1U);
    EXPECT_EQ(Rope("a\n").lines().n, 1U);
    EXPECT_EQ(Rope("a\n\n").lines().n, 2U);
    EXPECT_EQ(Rope("a\rb").lines().n, 1U);
    EXPECT_EQ(Rope("a\r\nb\r\n\n").crlfs(), 2U);
}

TEST(Rope, AnEditBetweenTheTwoBytesOfACrlfIsCounted) {
    Tiny rope("one\r\ntwo\r\nthree\r\n");
    EXPECT_EQ(rope.crlfs(), 3U);

    rope.insert({4}, "x");
    EXPECT_EQ(rope.crlfs(), 2U);
    rope.erase({4}, {1});
    EXPECT_EQ(rope.crlfs(), 3U);
    const Tiny copy = rope;
    rope.erase({3}, {6});
    EXPECT_EQ(rope.str(), "one\nthree\r\n");
    EXPECT_EQ(rope.crlfs(), 1U);
    EXPECT_EQ(copy.crlfs(), 3U);
}

TEST(Rope, ALineKeepsItsTerminator) {
    const Tiny rope("one\ntwo\r\n\nlast");

    EXPECT_EQ(rope.line({0}), "one\n");
    EXPECT_EQ(rope.line({1}), "two\r\n");
    EXPECT_EQ(rope.line({2}), "\n");
    EXPECT_EQ(rope.line({3}), "last");
    EXPECT_EQ(rope.line_start({4}), rope.bytes());
    EXPECT_EQ(rope.to_line({4}).n, 1U);
}

TEST(Rope, ConversionsRoundDownToACodePoint) {
    const Tiny rope("a\xC3\xA9\xF0\x9F\x98\x80z");  // a, e acute, a smile, z

    EXPECT_EQ(rope.bytes().n, 8U);
    EXPECT_EQ(rope.code_points().n, 4U);
    EXPECT_EQ(rope.utf16().n, 5U);
    EXPECT_EQ(rope.to_code_point({2}).n, 1U);
    EXPECT_EQ(rope.to_byte(text::Utf16{3}).n, 3U);
    EXPECT_EQ(rope.to_utf16({5}).n, 2U);
    EXPECT_FALSE(rope.is_boundary({4}));
    EXPECT_TRUE(rope.is_boundary({8}));
}

TEST(Rope, ACopyKeepsItsTextWhileTheOriginalIsEdited) {
    Rope rope(numbered_lines(1000));
    const Rope snapshot = rope;
    const std::string before = snapshot.str();

    rope.insert({500}, "changed");
    rope.erase({3000}, {4000});

    EXPECT_EQ(snapshot.str(), before);
    EXPECT_NE(rope.str(), before);
    rope.check_invariants();
    snapshot.check_invariants();
}

TEST(Rope, ASnapshotIsReadByAnotherThreadDuringEdits) {
    Rope rope(numbered_lines(2000));
    const Rope snapshot = rope;
    const std::string before = snapshot.str();
    bool same = true;

    std::thread reader([&] {
        for (int i = 0; i < 20; ++i) {
            // A copy in this thread is what is tried.
            const Rope mine = snapshot;  // NOLINT(performance-unnecessary-copy-initialization)
            same = same && mine.str() == before;
        }
    });
    for (std::size_t i = 0; i < 2000; ++i) {
        rope.insert({i * 3}, "x");
        rope.erase({i}, {2});
    }
    reader.join();

    EXPECT_TRUE(same);
}

// Text on a tape as a log writes it: joined to the piece before where that goes on.
struct Written {
    Tape tape{3};
    Tape::Offset at = 0;
    std::size_t size = 0;

    std::string_view write(std::string_view utf8) {
        if (size > 0 && tape.may_lengthen(at + static_cast<Tape::Offset>(size), utf8.size())) {
            tape.lengthen(utf8);
        } else {
            at = tape.write(utf8);
            size = 0;
        }
        size += utf8.size();
        return tape.read(at, size).substr(size - utf8.size());
    }
    template <class AnyRope>
    void insert(AnyRope& rope, std::size_t where, std::string_view utf8) {
        const std::string_view text = write(utf8);
        rope.insert({where}, text, tape.reel(at));
    }
};

TEST(Rope, ShowsAppendedTextInPlace) {
    Written written;
    Tiny rope;
    std::string flat;
    for (int i = 0; i < 300; ++i) {
        const std::string number = std::to_string(i) + "\n";
        written.insert(rope, flat.size(), number);
        flat += number;
        rope.check_invariants();
    }

    EXPECT_EQ(rope.str(), flat);
    EXPECT_GT(rope.shown_bytes(), flat.size() / 2);
}

TEST(Rope, ShowsALongTextInTheMiddleOfAnother) {
    Written written;
    const std::string middle = numbered_lines(300);
    for (const std::size_t at : {0, 1, 13, 95, 190}) {
        Rope rope(std::string(190, '-'));
        Tiny tiny(std::string(190, '-'));
        written.insert(rope, at, middle);
        written.insert(tiny, at, middle);

        rope.check_invariants();
        tiny.check_invariants();
        EXPECT_EQ(rope.str(), std::string(at, '-') + middle + std::string(190 - at, '-'));
        EXPECT_EQ(tiny.str(), rope.str());
        EXPECT_EQ(rope.shown_bytes(), middle.size());
        EXPECT_EQ(tiny.shown_bytes(), middle.size());
    }
}

TEST(Rope, ShownTextOutlivesTheTape) {
    const std::string text = numbered_lines(500);
    Rope rope;
    {
        Written written;
        written.insert(rope, 0, text);
    }
    ASSERT_EQ(rope.shown_bytes(), text.size());

    const Rope snapshot = rope;
    rope.insert({700}, "edited");
    rope.erase({900}, {2000});

    EXPECT_EQ(snapshot.str(), text);
    EXPECT_LT(rope.shown_bytes(), snapshot.shown_bytes());
    rope.check_invariants();
}

TEST(Rope, AnotherThreadReadsShownTextWhileTheTapeIsWritten) {
    Written written;
    Tiny rope;
    std::string flat;
    for (int i = 0; i < 100; ++i) {
        written.insert(rope, flat.size(), "before ");
        flat += "before ";
    }
    const Tiny snapshot = rope;
    bool same = true;

    std::thread reader([&] {
        for (int i = 0; i < 200; ++i) {
            const Tiny mine = snapshot;  // NOLINT(performance-unnecessary-copy-initialization)
            same = same && mine.str() == flat;
        }
    });
    for (std::size_t i = 0; i < 2000; ++i) {
        written.insert(rope, rope.code_points().n, "after ");
        if (i % 7 == 0) rope.erase({i}, {3});
    }
    reader.join();

    EXPECT_TRUE(same);
}

// A naive twin: a flat string in which everything is counted.
struct Flat {
    std::string text;
    std::size_t byte_of(std::size_t code_point) const {
        return utf8::offset_of_code_point(text, code_point);
    }
};

std::size_t crlfs_of(const std::string& text) {
    std::size_t count = 0;
    for (std::size_t i = 1; i < text.size(); ++i)
        count += text[i - 1] == '\r' && text[i] == '\n' ? 1 : 0;
    return count;
}

template <class AnyRope>
void edit_at_random(std::uint64_t seed, int steps) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const std::string_view alphabet[] = {
        "a", "b", "\n", "\r\n", "\r", "\xC3\xA9", "\xF0\x9F\x98\x80", "\xE2\x82\xAC"};
    AnyRope rope;
    Flat flat;
    Written written;
    std::vector<std::pair<AnyRope, std::string>> snapshots;
    std::size_t near = 0;
    for (int step = 0; step < steps; ++step) {
        const std::size_t size = utf8::count_code_points(flat.text);
        const std::size_t at = below(3) == 0 ? below(size + 1) : std::min(near, size);
        const bool grow = flat.text.size() < 400 ? below(5) < 3 : below(5) < 2;
        if (grow) {
            std::string piece;
            for (std::size_t i = below(below(10) == 0 ? 60 : 4) + 1; i > 0; --i)
                piece += alphabet[below(std::size(alphabet))];
            // Some of it lies where a rope may show it.
            if (below(4) == 0) {
                rope.splice({flat.byte_of(at)}, {0}, piece);
            } else if (seed % 2 == 0) {
                written.insert(rope, at, piece);
            } else {
                rope.insert({at}, piece);
            }
            flat.text.insert(flat.byte_of(at), piece);
            near = at + utf8::count_code_points(piece);
        } else {
            const std::size_t count = std::min(size - at, below(below(10) == 0 ? 80 : 4));
            const std::size_t from = flat.byte_of(at);
            const std::size_t bytes = flat.byte_of(at + count) - from;
            if (below(4) == 0) {
                rope.splice({from}, {bytes}, "");
            } else {
                rope.erase({at}, {count});
            }
            flat.text.erase(from, bytes);
            near = at > 0 && below(2) == 0 ? at - 1 : at;
        }
        if (below(20) == 0) snapshots.emplace_back(rope, flat.text);
        if (snapshots.size() > 4) snapshots.erase(snapshots.begin());
        rope.check_invariants();
        ASSERT_EQ(rope.str(), flat.text);
        // Not at each step, so that several edits lie between two counts.
        if (below(3) == 0) {
            ASSERT_EQ(rope.crlfs(), crlfs_of(flat.text));
        }
        const std::size_t byte = below(flat.text.size() + 1);
        const std::string head = flat.text.substr(0, byte);
        ASSERT_EQ(rope.to_line({byte}).n,
                  static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n')));
        const std::size_t point = below(utf8::count_code_points(flat.text) + 1);
        ASSERT_EQ(rope.to_byte(text::CodePoint{point}).n, flat.byte_of(point));
        ASSERT_EQ(rope.to_code_point({flat.byte_of(point)}).n, point);
        const std::size_t units = utf8::count_utf16(flat.text.substr(0, flat.byte_of(point)));
        ASSERT_EQ(rope.to_utf16({flat.byte_of(point)}).n, units);
        ASSERT_EQ(rope.to_byte(text::Utf16{units}).n, flat.byte_of(point));
        const std::size_t line = rope.to_line({byte}).n;
        ASSERT_LE(rope.line_start({line}).n, byte);
        ASSERT_GE(rope.line_start({line + 1}).n, byte);
    }
    for (const auto& [snapshot, text] : snapshots) {
        snapshot.check_invariants();
        ASSERT_EQ(snapshot.str(), text);
        ASSERT_EQ(snapshot.crlfs(), crlfs_of(text));
    }
}

TEST(Rope, RandomEditsMatchAFlatString) {
    const char* given = std::getenv("SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    for (std::uint64_t i = 0; i < 5; ++i) {
        edit_at_random<Tiny>(seed + i, 1500);
        edit_at_random<BasicRope<24, 3>>(seed + i, 1500);
        edit_at_random<Rope>(seed + i, 1500);
    }
}

}  // namespace
}  // namespace quire::seq

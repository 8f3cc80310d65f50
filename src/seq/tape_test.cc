#include "seq/tape.h"

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"

namespace quire::seq {
namespace {

// Parts of eight bytes, reels of 128.
constexpr unsigned kTiny = 3;

TEST(Tape, KeepsPiecesSideBySideWhileTheReelHasRoom) {
    Tape tape(kTiny);
    const Tape::Offset at = tape.write("ab");

    ASSERT_TRUE(tape.may_lengthen(at + 2, 1));
    tape.lengthen("c");

    EXPECT_EQ(tape.read(at, 3), "abc");
    EXPECT_FALSE(tape.may_lengthen(at + 2, 1));
    EXPECT_FALSE(tape.may_lengthen(at + 3, 126));
}

TEST(Tape, GivesALongPieceAReelOfItsOwn) {
    Tape tape(kTiny);
    const std::string longer(300, 'l');
    const Tape::Offset first = tape.write("short");
    const Tape::Offset second = tape.write(longer);

    EXPECT_FALSE(tape.may_lengthen(second + 300, 1));
    ASSERT_TRUE(tape.may_lengthen(first + 5, 4));
    tape.lengthen("ened");

    EXPECT_EQ(tape.read(first, 9), "shortened");
    EXPECT_EQ(tape.read(second, 300), longer);
    EXPECT_NE(tape.reel(second), nullptr);
    tape.check_invariants();
}

TEST(Tape, ShowsNothingThatMayMove) {
    Tape tape(kTiny);
    const Tape::Offset at = tape.write("begins ");
    EXPECT_EQ(tape.reel(at), nullptr);

    for (int i = 0; i < 20; ++i) tape.write("and on ");

    ASSERT_NE(tape.reel(at), nullptr);
    EXPECT_EQ(tape.read(at, 7).data(), tape.reel(at)->text());
}

TEST(Tape, NeverOverwritesShownText) {
    Tape tape(kTiny);
    for (int i = 0; i < 10; ++i) tape.write("before ");
    const Tape::Mark mark = tape.mark();
    const Tape::Offset at = tape.write("shown");
    ASSERT_NE(tape.reel(at), nullptr);
    const std::string_view text = tape.read(at, 5);
    Reel* const reel = tape.reel(at);
    reel->retain();
    reel->show(static_cast<std::size_t>(text.data() - reel->text()) + 5);

    tape.rewind(mark);
    tape.check_invariants();
    const Tape::Offset now = tape.write("other");

    EXPECT_EQ(text, "shown");
    EXPECT_EQ(tape.read(now, 5), "other");
    tape.check_invariants();
    reel->release();
}

TEST(Tape, ACopyAndItsOriginalAreWrittenApart) {
    Tape tape(kTiny);
    std::vector<Tape::Offset> places;
    for (int i = 0; i < 300; ++i) places.push_back(tape.write(cat("piece ", i)));
    const Tape::Offset large = tape.write(std::string(5'000, 'x'));

    Tape copy(tape);
    const Tape::Offset ours = tape.write("ours");
    const Tape::Offset theirs = copy.write("theirs");

    EXPECT_EQ(tape.read(ours, 4), "ours");
    EXPECT_EQ(copy.read(theirs, 6), "theirs");
    // Only the reel that is written is not shared.
    EXPECT_EQ(copy.reel(large), tape.reel(large));
    tape = Tape(kTiny);
    for (int i = 0; i < 300; ++i) {
        const std::string piece = cat("piece ", i);
        EXPECT_EQ(copy.read(places[static_cast<std::size_t>(i)], piece.size()), piece);
    }
    EXPECT_EQ(copy.read(large, 5'000), std::string(5'000, 'x'));
    copy.check_invariants();
}

TEST(Tape, ThatIsFittedShowsItsTextAndMayGoOn) {
    Tape tape(kTiny);
    const Tape::Offset at = tape.write("short");
    EXPECT_EQ(tape.reel(at), nullptr);

    tape.fit();

    Reel* const reel = tape.reel(at);
    ASSERT_NE(reel, nullptr);
    EXPECT_EQ(reel->capacity(), 5U);
    reel->retain();
    reel->show(5);
    const std::string_view shown(reel->text(), 5);
    ASSERT_TRUE(tape.may_lengthen(at + 5, 7));
    tape.lengthen(" longer");
    EXPECT_EQ(tape.read(at, 12), "short longer");
    EXPECT_EQ(shown, "short");
    EXPECT_EQ(tape.reel(at), nullptr);
    tape.check_invariants();
    reel->release();
}

// Against a list of strings, with marks gone back to.
TEST(Tape, ReadsBackWrittenText) {
    const char* given = std::getenv("SEED");
    const unsigned first = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 1;
    for (unsigned seed = first; seed < first + 100; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
        struct Piece {
            Tape::Offset at;
            std::string text;
        };
        Tape tape(kTiny);
        std::vector<Piece> pieces;
        Tape::Mark mark = tape.mark();
        std::size_t marked = 0;
        for (int step = 0; step < 300; ++step) {
            const std::string text(1 + below(below(10) == 0 ? 200 : 9),
                                   static_cast<char>('a' + step % 26));
            if (!pieces.empty() && pieces.size() > marked && below(2) == 0 &&
                tape.may_lengthen(
                    pieces.back().at + static_cast<Tape::Offset>(pieces.back().text.size()),
                    text.size())) {
                tape.lengthen(text);
                pieces.back().text += text;
            } else {
                pieces.push_back({tape.write(text), text});
            }
            if (below(20) == 0) {
                mark = tape.mark();
                marked = pieces.size();
            } else if (below(20) == 0) {
                tape.rewind(mark);
                pieces.resize(marked);
            }
            if (below(15) == 0) tape.fit();
            tape.check_invariants();
        }
        for (const Piece& piece : pieces)
            ASSERT_EQ(tape.read(piece.at, piece.text.size()), piece.text);
    }
}

}  // namespace
}  // namespace quire::seq

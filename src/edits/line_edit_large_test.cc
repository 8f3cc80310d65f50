// The cost of editing a large text. Prints its figures.
#include <algorithm>
#include <cstdio>
#include <random>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "edits/line_edit.h"

namespace quire::edits {
namespace {

TEST(LineEditLarge, ARandomLineOfAHundredMegabytesIsPlannedWithoutCopyingThem) {
    std::string content;
    while (content.size() < 100'000'000)
        content += "a line of some words, number " + std::to_string(content.size()) + "\n";
    const seq::Rope text(content);
    const std::size_t lines = text.lines().n;
    std::mt19937_64 engine(1);
    const SystemClock clock;

    constexpr int kEdits = 1000;
    const std::int64_t begin = clock.steady_ms();
    for (int i = 0; i < kEdits; ++i) {
        const std::size_t line = engine() % lines;
        LineEdit edit;
        edit.limits.block_bytes = SIZE_MAX;
        edit.operations = {ReplaceLines{{{line}, {line + 1}}, "another line\n", text.line({line})}};
        ASSERT_TRUE(line_edits(std::move(edit))(text, 1)) << line;
    }
    const double each = static_cast<double>(clock.steady_ms() - begin) / kEdits;
    std::printf("  %zu MB, %zu lines: %.3f ms an edit\n", content.size() / 1'000'000, lines, each);
    EXPECT_LT(each, 5.0);
}

}  // namespace
}  // namespace quire::edits

#include "rpc/line_splitter.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace quire::rpc {
namespace {

// The lines that `chunks` give, one after another; "!" and its id for a line that was too long.
std::vector<std::string> split(std::size_t bound, const std::vector<std::string>& chunks) {
    LineSplitter splitter(bound);
    std::vector<std::string> lines;
    for (const std::string& chunk : chunks) {
        splitter.feed(
            chunk, [&](std::string line) { lines.push_back(std::move(line)); },
            [&](const std::string& id) { lines.push_back("!" + id); });
    }
    return lines;
}

using Lines = std::vector<std::string>;

TEST(LineSplitter, LinesMayComeInPiecesOrManyAtOnce) {
    EXPECT_EQ(split(100, {"on", "e\ntwo\nthr", "ee", "\n"}), (Lines{"one", "two", "three"}));
}

TEST(LineSplitter, TextWithoutANewlineIsNoLineYet) {
    EXPECT_EQ(split(100, {"one\ntw"}), (Lines{"one"}));
}

TEST(LineSplitter, EmptyLinesAndCarriageReturnsAreNotPassedOn) {
    EXPECT_EQ(split(100, {"\n\r\none\r\n\n"}), (Lines{"one"}));
}

TEST(LineSplitter, ALineOfTheBoundPassesAndOneByteMoreDoesNot) {
    EXPECT_EQ(split(3, {"abc\nabcd\nxyz\n"}), (Lines{"abc", "!", "xyz"}));
}

TEST(LineSplitter, AfterALineThatIsTooLongTheNextOneFollows) {
    EXPECT_EQ(split(3, {"ab", "cd", "ef", "gh\nok\n"}), (Lines{"!", "ok"}));
}

TEST(LineSplitter, ALineThatIsTooLongIsKnownByItsIdWhereverThatStands) {
    const std::string filling(40, 'x');
    EXPECT_EQ(split(16, {R"({"id":7,"params":{"id":8,"text":")" + filling + "\"}}\n"}),
              (Lines{"!7"}));
    EXPECT_EQ(split(16, {R"({"params":{"id":8,"text":"\"}],)" + filling, R"("}, "i)",
                         R"(d" : "a\u0062" )", "}\r\n"}),
              (Lines{"!\"ab\""}));
    EXPECT_EQ(split(16, {R"({"params":["id",{"id":8},")" + filling + "\"]}\n"}), (Lines{"!"}));
    EXPECT_EQ(split(16, {R"([{"id":8,"text":")" + filling + "\"}]\n"}), (Lines{"!"}));
    EXPECT_EQ(split(16, {R"({"id":")" + std::string(5000, 'x') + "\"}\n"}), (Lines{"!"}));
}

// A line is scanned as it arrives once it is long, and its strings are skipped.
TEST(LineSplitter, ALongLineThatIsTooLongIsKnownByItsIdHoweverItIsCut) {
    std::string text = R"({"params":{"text":")";
    while (text.size() < (std::size_t{3} << 20)) text += R"(\\\" \n \\\\ a line )";
    text += "\"},\"id\":\"\\u0061\"}\nafter\n";
    for (const std::size_t part : {std::size_t{7}, std::size_t{65'536}, text.size()}) {
        std::vector<std::string> chunks;
        for (std::size_t at = 0; at < text.size(); at += part)
            chunks.push_back(text.substr(at, part));
        EXPECT_EQ(split(std::size_t{2} << 20, chunks), (Lines{"!\"a\"", "after"})) << part;
    }
}

TEST(LineSplitter, ALongLineWithinTheBoundPassesWhole) {
    const std::string text = "{\"text\":\"" + std::string(std::size_t{3} << 20, 'x') + "\"}";
    EXPECT_EQ(split(std::size_t{4} << 20, {text, "\nafter\n"}), (Lines{text, "after"}));
}

TEST(LineSplitter, HowBytesAreCutMakesNoDifference) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int round = 0; round < 200; ++round) {
        std::string text;
        for (auto i = random() % 60; i > 0; --i) text += random() % 4 == 0 ? '\n' : 'x';
        std::vector<std::string> chunks;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t length = 1 + random() % 5;
            chunks.push_back(text.substr(at, length));
            at += length;
        }
        EXPECT_EQ(split(4, chunks), split(4, {text})) << text;
    }
}

}  // namespace
}  // namespace quire::rpc

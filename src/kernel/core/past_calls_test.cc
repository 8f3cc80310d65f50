// The past of blocks: differences, going back, and who wrote which line.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/words_for_test.h"
#include "kernel/core/desk_test.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

Result<BlockDiff> diff(Desk& desk, const std::string& id, std::optional<std::string> from = {},
                       std::optional<std::string> to = {}) {
    return desk.ask<BlockDiff>([&](auto reply) {
        desk.kernel->diff(Desk::as("reader"), id, from, to, std::move(reply));
    });
}
Result<Edited> roll_back(Desk& desk, const std::string& id, const std::string& version,
                         const std::string& by = "ada") {
    return desk.ask<Edited>([&](auto reply) {
        desk.kernel->rollback(Desk::as(by), id, version, std::move(reply));
    });
}
// "agent:ada 1 create|agent:bo 2 splice", an entry for each line.
std::string blame(Desk& desk, const std::string& id) {
    const auto found = desk.ask<Blame>(
        [&](auto reply) { desk.kernel->blame(Desk::as("reader"), id, std::move(reply)); });
    if (!found) return found.error().reason();
    std::string out;
    for (const Blame::Stretch& each : found->stretches) {
        for (std::size_t line = each.begin; line < each.end; ++line) {
            cat_to(out, cat(out.empty() ? "" : "|", each.entry.actor, " ", each.entry.version_id,
                            " ", each.entry.description));
        }
    }
    return out;
}

TEST(PastCalls, ADiffIsOfTheVersionsThatItNames) {
    Desk desk;
    const std::string id = desk.create("one\ntwo\n");
    desk.splice(id, 0, 3, "1");
    desk.splice(id, 2, 3, "2");

    EXPECT_EQ(diff(desk, id)->diff, cat("--- ", id, "\tversion 2\n+++ ", id,
                                        "\tversion 3\n@@ -1,2 +1,2 @@\n 1\n-two\n+2\n"));
    EXPECT_EQ(diff(desk, id, "1", "2")->diff,
              cat("--- ", id, "\tversion 1\n+++ ", id,
                  "\tversion 2\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"));
    EXPECT_EQ(diff(desk, id, "3", "3")->diff, "");
    EXPECT_EQ(diff(desk, id, {}, "1")->diff,
              cat("--- ", id, "\tversion 0\n+++ ", id,
                  "\tversion 1\n@@ -0,0 +1,2 @@\n+one\n+two\n"));
    EXPECT_EQ(reason(diff(desk, id, "9")), "invalid_reference");
    EXPECT_EQ(reason(diff(desk, "b9_1_0")), "invalid_reference");
}

TEST(PastCalls, ARollbackIsAnEditThatUndoTakesBack) {
    Desk desk;
    const std::string id = desk.create("one\ntwo\n");
    desk.splice(id, 0, 3, "1", "bo");
    desk.append(id, "three\n", "bo", Ack::accepted);

    const Result<Edited> back = roll_back(desk, id, "1");
    ASSERT_TRUE(back);
    EXPECT_EQ(back->version, 4U);
    EXPECT_EQ(desk.text(id), "one\ntwo\n");
    ASSERT_TRUE(desk.undo(id));
    EXPECT_EQ(desk.text(id), "1\ntwo\nthree\n");
    desk.restart();
    ASSERT_TRUE(roll_back(desk, id, "4"));
    EXPECT_EQ(desk.text(id), "one\ntwo\n");

    const Result<Edited> again = roll_back(desk, id, "1");
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->no_op);
    EXPECT_EQ(again->version, desk.version(id));
    EXPECT_EQ(reason(roll_back(desk, id, "99")), "invalid_reference");
}

TEST(PastCalls, ARollbackBringsBackMoreThanOneCallMayBring) {
    Limits limits;
    limits.operation_bytes = 100;
    Desk desk(limits);
    const std::string id = desk.create("");
    for (int i = 0; i < 5; ++i) desk.append(id, std::string(80, 'a' + static_cast<char>(i)));
    const std::string full = desk.text(id);
    desk.splice(id, 0, full.size(), "");

    ASSERT_TRUE(roll_back(desk, id, cat(desk.version(id) - 1)));
    EXPECT_EQ(desk.text(id), full);
}

TEST(PastCalls, ALineIsOfWhoTouchedItLast) {
    Desk desk;
    const std::string id = desk.create("one\ntwo\n\nfour");
    desk.splice(id, 5, 1, "W", "bo");
    desk.append(id, "\nfive\n", "cy");

    EXPECT_EQ(blame(desk, id),
              "agent:ada 1 create|agent:bo 2 splice|agent:ada 1 create|agent:ada 1 "
              "create|agent:cy 3 append");
    desk.restart();
    EXPECT_EQ(blame(desk, id),
              "agent:ada 1 create|agent:bo 2 splice|agent:ada 1 create|agent:ada 1 "
              "create|agent:cy 3 append");
}

TEST(PastCalls, ALineThatUndoBringsBackIsItsFirstWritersAgain) {
    Desk desk;
    const std::string id = desk.create("one\ntwo\n");
    desk.splice(id, 0, 4, "", "bo");
    desk.undo(id, "bo");
    EXPECT_EQ(blame(desk, id), "agent:ada 1 create|agent:ada 1 create");
    desk.splice(id, 0, 0, "zero\n", "bo");
    desk.undo(id, "bo");
    desk.undo(id, "bo", true);
    EXPECT_EQ(blame(desk, id), "agent:bo 4 splice|agent:ada 1 create|agent:ada 1 create");
}

// Each character with the version that wrote it, kept beside the text.
struct Model {
    std::string text;
    std::vector<std::uint64_t> wrote;

    void splice(std::size_t at, std::size_t erase, const std::string& insert,
                std::uint64_t version) {
        const auto begin = wrote.begin() + static_cast<std::ptrdiff_t>(at);
        const auto behind = wrote.erase(begin, begin + static_cast<std::ptrdiff_t>(erase));
        wrote.insert(behind, insert.size(), version);
        text.replace(at, erase, insert);
    }
    std::vector<std::uint64_t> lines() const {
        std::vector<std::uint64_t> out;
        std::size_t at = 0;
        const std::vector<std::string_view> all = text::split_lines(text);
        for (const std::string_view line : all) {
            const std::size_t shown = line.size() > 1 && line.ends_with('\n') ? line.size() - 1
                                                                             : line.size();
            std::uint64_t newest = 0;
            for (std::size_t i = at; i < at + shown; ++i) newest = std::max(newest, wrote[i]);
            out.push_back(newest);
            at += line.size();
        }
        return out;
    }
};

TEST(PastCalls, BlameEqualsAModelThatMarksEachCharacter) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        Desk desk;
        const std::string id = desk.create("");
        Model model;
        for (int step = 0; step < 60; ++step) {
            const std::string by = std::vector<std::string>{"ada", "bo", "cy"}[below(3)];
            const Model before = model;
            const std::size_t at = below(model.text.size() + 1);
            const std::size_t erase = below(std::min<std::size_t>(model.text.size() - at, 6) + 1);
            const std::string insert =
                std::vector<std::string>{"", "a", "bc\n", "\n", "d e\nf", "ghi"}[below(6)];
            if (erase == 0 && insert.empty()) continue;
            const Result<Edited> edited = desk.splice(id, at, erase, insert, by);
            ASSERT_TRUE(edited);
            model.splice(at, erase, insert, edited->version);
            if (below(4) == 0) {
                const Model after = model;
                ASSERT_TRUE(desk.undo(id, by));
                model = before;
                if (below(2) == 0) {
                    ASSERT_TRUE(desk.undo(id, by, true));
                    model = after;
                }
            }
            if (below(15) == 0) desk.restart();
            ASSERT_EQ(desk.text(id), model.text) << "seed " << seed << ", step " << step;
            const auto found = desk.ask<Blame>(
                [&](auto reply) { desk.kernel->blame(Desk::as("x"), id, std::move(reply)); });
            ASSERT_TRUE(found);
            std::vector<std::uint64_t> lines;
            for (const Blame::Stretch& each : found->stretches)
                lines.insert(lines.end(), each.end - each.begin, std::stoull(each.entry.version_id));
            ASSERT_EQ(lines, model.lines()) << "seed " << seed << ", step " << step;
        }
    }
}

}  // namespace
}  // namespace quire::kernel

// Three trees and a person on the workspace edit the same files at random, and land and refresh in between. No word
// that anybody wrote is lost, whatever the order; trees agree with the workspace but where a conflict is open;
// and whatever was brought once is not brought again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "kernel/views/views_test.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

class RandomTrees : public Views {
protected:
    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random() % limit); }
    static std::string file(std::size_t number) { return cat("src/f", number); }

    // A new line, or a word at the end of one that is there: nobody takes a word out.
    void edit(const std::string& where) {
        const std::string path = file(below(kFiles));
        const std::string before = get(where, path);
        std::vector<std::string> lines;
        for (const std::string_view line : text::split_lines(before)) lines.emplace_back(line);
        const std::string word = cat("w", written.size(), "x");
        const std::size_t at = below(lines.size() + 1);
        if (below(2) == 0 || at == lines.size()) {
            lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), word + "\n");
        } else {
            lines[at].insert(lines[at].size() - 1, cat(" ", word));
        }
        std::string after;
        for (const std::string& line : lines) after += line;
        put(where, path, after);
        written.push_back(word);
    }

    // A person who saves within seconds of a land may seem to write over it. Then the document has a
    // conflict with the disk, which the person settles.
    void settle_disk() {
        for (std::size_t i = 0; i < kFiles; ++i) {
            FileResolve both;
            both.path = file(i);
            both.choice = ConflictChoice::merge;
            static_cast<void>(ask<FileResolved>(
                [&](auto reply) { calls->resolve(person(), both, std::move(reply)); }));
            static_cast<void>(ask<FileSaved>(
                [&](auto reply) { calls->save(person(), both.path, std::move(reply)); }));
        }
    }

    // Returns true if anything was brought.
    bool bring(const std::string& tree, bool lands) {
        Result<Synced> made = lands ? land(tree) : refresh(tree);
        if (made && made->failure && made->failure->reason() == "needs_resolution") {
            settle_disk();
            made = lands ? land(tree) : refresh(tree);
        }
        EXPECT_TRUE(made && (made->outcome == SyncOutcome::done ||
                             made->outcome == SyncOutcome::conflict))
            << told(made) << (made && made->failure ? made->failure->message() : "");
        const Result<Synced> again = lands ? land(tree) : refresh(tree);
        EXPECT_TRUE(again && again->files.empty()) << told(again);
        return made && !made->files.empty();
    }

    void run(std::uint32_t seed) {
        SCOPED_TRACE(cat("seed ", seed));
        random.seed(seed);
        written.clear();
        for (std::size_t i = 0; i < kFiles; ++i) {
            std::string text;
            for (int line = 0; line < 10; ++line) cat_to(text, cat("line ", line, " of ", i, "\n"));
            directory.put(file(i), text);
        }
        std::vector<std::string> all;
        for (const char* name : {"ada", "bob", "cyd"}) all.push_back(adopted(cat(name, seed)));
        for (int step = 0; step < 40; ++step) {
            const std::size_t who = below(all.size() + 1);
            const bool is_person = who == all.size();
            if (is_person || below(2) == 0) {
                edit(is_person ? directory.path() : all[who]);
            } else {
                bring(all[who], below(2) == 0);
            }
        }
        // A tree takes in the next round what those behind it land in this one.
        bool is_news = true;
        for (int round = 0; round < 6 && is_news; ++round) {
            is_news = false;
            for (const std::string& tree : all) {
                is_news |= bring(tree, true);
                is_news |= bring(tree, false);
            }
        }
        EXPECT_FALSE(is_news) << "it does not come to an end";
        std::string kept;
        for (std::size_t i = 0; i < kFiles; ++i) kept += directory.get(file(i));
        for (const std::string& tree : all) {
            const TreeReport now = report(tree);
            for (const TreeConflict& each : now.conflicts)
                cat_to(kept, cat(each.tree, each.shared));
            for (std::size_t i = 0; i < kFiles; ++i) {
                const bool is_tied = std::ranges::any_of(
                    now.conflicts, [&](const auto& each) { return each.path == file(i); });
                if (is_tied) continue;
                EXPECT_EQ(get(tree, file(i)), directory.get(file(i))) << tree;
            }
            static_cast<void>(ask<TreeReport>(
                [&](auto reply) { views->drop(person(), tree, std::move(reply)); }));
        }
        for (const std::string& word : written)
            EXPECT_NE(kept.find(word), std::string::npos) << word << " is lost";
    }

    static constexpr std::size_t kFiles = 3;
    std::mt19937 random;
    std::vector<std::string> written;
};

TEST_F(RandomTrees, NoWordIsLostAndTreesAgree) {
    const char* const wanted = std::getenv("QUIRE_LONG");  // NOLINT(concurrency-mt-unsafe)
    const std::uint32_t seeds = wanted != nullptr ? 400 : 8 / kRoundsShare;
    for (std::uint32_t seed = 1; seed <= seeds && !HasFailure(); ++seed) run(seed);
}

}  // namespace
}  // namespace quire::kernel

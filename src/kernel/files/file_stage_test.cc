// Private copies of files: who sees them, what reaches the file and the disk, and what a merge keeps.
#include "kernel/files/file_stage.h"

#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

class Staging : public ::testing::Test {
protected:
    Result<FileVersion> stage(const std::string& path, const std::string& by = "ada") {
        return office.ask<FileVersion>(
            [&](auto reply) { office.calls->stage(FileOffice::as(by), path, std::move(reply)); });
    }
    Result<FileUnstaged> unstage(const std::string& path, bool apply,
                                 const std::string& by = "ada") {
        return office.ask<FileUnstaged>([&](auto reply) {
            office.calls->unstage(FileOffice::as(by), path, apply, std::move(reply));
        });
    }
    std::string text_of(const std::string& path, const std::string& by) {
        const auto text = office.ask<WholeText>(
            [&](auto reply) { office.calls->text(FileOffice::as(by), path, std::move(reply)); });
        return text ? text->text : cat("<", text.error().reason(), ">");
    }
    // The text of a block, by its id.
    std::string text_at_id(const std::string& block_id, const std::string& by) {
        const auto text = office.ask<WholeText>([&](auto reply) {
            office.kernel->text(FileOffice::as(by), block_id, std::move(reply));
        });
        return text ? text->text : cat("<", text.error().reason(), ">");
    }
    std::string undo(const std::string& path, const std::string& by) {
        return FileOffice::reason(office.ask<Undone>([&](auto reply) {
            office.calls->undo(FileOffice::as(by), path,
                               last_of(cat("agent:", by), UndoScope::own, false), std::move(reply));
        }));
    }
    bool is_staged_for(const std::string& path, const std::string& by) {
        return office
            .ask<std::vector<FileStatus>>([&](auto reply) {
                office.calls->status(FileOffice::as(by), path, std::move(reply));
            })
            ->at(0)
            .staged;
    }

    FileOffice office;
    std::map<std::string, std::string> bases_;  // The text that each actor's copy began with.
};

TEST_F(Staging, ACopyIsItsOwnersAlone) {
    office.files.put("f", "one\ntwo\n");
    ASSERT_TRUE(stage("f"));

    EXPECT_EQ(office.edit("f", "two", "2", "ada"), "ok");
    EXPECT_EQ(office.edit("f", "one", "1", "bob"), "ok");

    EXPECT_EQ(text_of("f", "ada"), "one\n2\n");
    EXPECT_EQ(text_of("f", "bob"), "1\ntwo\n");
    EXPECT_EQ(office.disk("f"), "one\ntwo\n");
    EXPECT_TRUE(is_staged_for("f", "ada"));
    EXPECT_FALSE(is_staged_for("f", "bob"));
}

TEST_F(Staging, TheFilesBlockIsTheCopyForItsOwner) {
    office.files.put("f", "one\n");
    const std::string file = office.read("f")->file.block_id;
    const std::string copy = stage("f")->block_id;
    ASSERT_NE(file, copy);

    const auto appended = office.ask<Appended>([&](auto reply) {
        office.kernel->append(FileOffice::as("ada"), file, "mine\n", Ack::durable,
                              std::move(reply));
    });

    ASSERT_TRUE(appended);
    EXPECT_EQ(text_at_id(file, "ada"), "one\nmine\n");
    EXPECT_EQ(text_at_id(copy, "ada"), "one\nmine\n");
    EXPECT_EQ(text_at_id(file, "bob"), "one\n");
    EXPECT_EQ(text_at_id(copy, "bob"), "<permission_denied>");
}

TEST_F(Staging, UnstagingIsOneVersionAndOneStepOfUndo) {
    office.files.put("f", "one\ntwo\nthree\nfour\n");
    const std::uint64_t version = office.read("f")->file.version;
    EXPECT_EQ(stage("f")->version, version);
    ASSERT_EQ(office.edit("f", "one", "1"), "ok");
    ASSERT_EQ(office.edit("f", "two", "2"), "ok");
    ASSERT_EQ(office.edit("f", "four", "4", "bob"), "ok");

    const auto merged = unstage("f", true);

    ASSERT_TRUE(merged) << merged.error().message();
    EXPECT_EQ(merged->file.version, version + 2);
    EXPECT_TRUE(merged->edited->notes.empty());
    EXPECT_EQ(office.text("f"), "1\n2\nthree\n4\n");
    EXPECT_FALSE(is_staged_for("f", "ada"));
    EXPECT_EQ(undo("f", "ada"), "ok");
    EXPECT_EQ(office.text("f"), "one\ntwo\nthree\n4\n");
    EXPECT_EQ(office.disk("f"), "one\ntwo\nthree\nfour\n");
}

TEST_F(Staging, ADroppedCopyLeavesTheFileAsItIs) {
    office.files.put("f", "one\n");
    ASSERT_TRUE(stage("f"));
    ASSERT_EQ(office.edit("f", "one", "1"), "ok");

    ASSERT_TRUE(unstage("f", false));

    EXPECT_EQ(text_of("f", "ada"), "one\n");
    EXPECT_EQ(FileOffice::reason(unstage("f", false)), "not_staged");
    ASSERT_TRUE(stage("f"));
    EXPECT_EQ(text_of("f", "ada"), "one\n");
}

TEST_F(Staging, WhatWouldPassTheCopyByIsRefused) {
    office.files.put("f", "one\n");
    ASSERT_TRUE(stage("f"));

    EXPECT_EQ(FileOffice::reason(stage("f")), "already_staged");
    EXPECT_EQ(FileOffice::reason(office.save("f")), "staged");
    EXPECT_EQ(FileOffice::reason(office.erase("f")), "staged");
    EXPECT_EQ(office.resolve("f", ConflictChoice::agent), "staged");
    EXPECT_EQ(FileOffice::reason(unstage("f", true, "bob")), "not_staged");
    EXPECT_EQ(FileOffice::reason(stage("none")), "file_not_found");
    EXPECT_EQ(FileOffice::reason(stage("sealed/f")), "escalation_required");
    ASSERT_TRUE(stage("f", "bob"));
}

TEST_F(Staging, HistoryAndUndoAreTheCopys) {
    office.files.put("f", "one\n");
    ASSERT_EQ(office.edit("f", "one", "shared"), "ok");
    ASSERT_TRUE(stage("f"));
    ASSERT_EQ(office.edit("f", "shared", "mine"), "ok");

    const auto history = office.ask<FileHistory>([&](auto reply) {
        office.calls->history(FileOffice::as("ada"), "f", 10, "", std::move(reply));
    });

    ASSERT_EQ(history->page.versions.size(), 2U);
    EXPECT_EQ(history->page.versions[0].description, "replace");
    EXPECT_EQ(history->page.versions[1].description, "stage");
    EXPECT_EQ(undo("f", "ada"), "ok");
    EXPECT_EQ(text_of("f", "ada"), "shared\n");
    EXPECT_EQ(undo("f", "ada"), "nothing_to_undo");
    EXPECT_EQ(office.text("f"), "shared\n");
}

TEST_F(Staging, ACopySurvivesARestart) {
    office.files.put("f", "one\ntwo\n");
    ASSERT_TRUE(stage("f"));
    ASSERT_EQ(office.edit("f", "two", "2"), "ok");

    office.restart();

    EXPECT_EQ(text_of("f", "ada"), "one\n2\n");
    EXPECT_EQ(text_of("f", "bob"), "one\ntwo\n");
    ASSERT_TRUE(unstage("f", true));
    office.restart();
    EXPECT_EQ(text_of("f", "bob"), "one\n2\n");
    EXPECT_FALSE(is_staged_for("f", "ada"));
}

TEST_F(Staging, AMergeThatCannotBeStoredLeavesBothAsTheyWere) {
    office.files.put("f", "one\ntwo\n");
    ASSERT_TRUE(stage("f"));
    ASSERT_EQ(office.edit("f", "two", "2"), "ok");

    office.store.fail_next();
    ASSERT_FALSE(unstage("f", true));

    EXPECT_EQ(text_of("f", "ada"), "one\n2\n");
    EXPECT_EQ(text_of("f", "bob"), "one\ntwo\n");
    EXPECT_TRUE(unstage("f", true));
    EXPECT_EQ(text_of("f", "bob"), "one\n2\n");
}

TEST_F(Staging, ACopyOutlivesItsFile) {
    office.files.put("free/f", "one\n");
    ASSERT_TRUE(stage("free/f", "bob"));
    ASSERT_EQ(office.edit("free/f", "one", "1", "bob"), "ok");
    ASSERT_TRUE(office.erase("free/f"));

    EXPECT_EQ(FileOffice::reason(unstage("free/f", true, "bob")), "file_not_found");

    EXPECT_EQ(text_of("free/f", "bob"), "1\n");
    EXPECT_TRUE(unstage("free/f", false, "bob"));
    EXPECT_EQ(text_of("free/f", "bob"), "<file_not_found>");
}

TEST_F(Staging, WhereBothSidesChangedTheSameWordsBothStand) {
    office.files.put("f", "one\ntwo\nthree\n");
    ASSERT_TRUE(stage("f"));
    ASSERT_EQ(office.edit("f", "two", "mine"), "ok");
    ASSERT_EQ(office.edit("f", "two", "theirs", "bob"), "ok");

    const auto merged = unstage("f", true);

    ASSERT_TRUE(merged);
    ASSERT_EQ(merged->edited->notes.size(), 1U);
    const std::string text = office.text("f");
    EXPECT_NE(text.find("mine"), std::string::npos) << text;
    EXPECT_NE(text.find("theirs"), std::string::npos) << text;
    EXPECT_EQ(text.find("theirsmine"), std::string::npos) << text;
}

TEST_F(Staging, APatchGoesToTheCopy) {
    office.files.put("f", "one\ntwo\n");
    ASSERT_TRUE(stage("f"));
    auto parts = edits::parse_patch("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", {});
    ASSERT_TRUE(parts);

    const auto patched = office.ask<Patched>([&](auto reply) {
        office.calls->patch(FileOffice::as("ada"), {std::move(*parts), false, {}},
                            std::move(reply));
    });

    ASSERT_TRUE(patched) << patched.error().message();
    EXPECT_EQ(text_of("f", "ada"), "one\n2\n");
    EXPECT_EQ(text_of("f", "bob"), "one\ntwo\n");
}

TEST_F(Staging, EditsOfACopyAreNotSavedAndTheMergeIs) {
    office.files.put("f", "one\n");
    office.calls->set_save(SaveWhen::on_commit);
    ASSERT_TRUE(stage("f"));
    ASSERT_EQ(office.edit("f", "one", "1"), "ok");
    ASSERT_EQ(office.append("f", "two\n"), "ok");
    EXPECT_EQ(undo("f", "ada"), "ok");
    ASSERT_EQ(office.append("f", "2\n"), "ok");
    EXPECT_EQ(office.disk("f"), "one\n");

    ASSERT_TRUE(unstage("f", true));

    EXPECT_EQ(office.disk("f"), "1\n2\n");
}

TEST_F(Staging, WhatTheDiskChangedMeanwhileIsTakenInFirst) {
    office.files.put("f", "one\ntwo\nthree\n");
    ASSERT_TRUE(stage("f"));
    ASSERT_EQ(office.edit("f", "three", "3"), "ok");
    office.files.put("f", "uno\ntwo\nthree\n");

    ASSERT_TRUE(unstage("f", true));

    EXPECT_EQ(office.text("f"), "uno\ntwo\n3\n");
}

TEST_F(Staging, AnEditIsCheckedAgainstThePathsRules) {
    office.files.put("locked/f", "one\n");
    ASSERT_TRUE(stage("locked/f"));

    EXPECT_EQ(office.edit("locked/f", "one", "1"), "permission_denied");
    EXPECT_EQ(FileOffice::reason(unstage("locked/f", true)), "permission_denied");
    EXPECT_TRUE(unstage("locked/f", false));
}

TEST_F(Staging, AFileThatIsNeverMergedIsRefused) {
    FileRules rules{policy::PathRules({rule("*", policy::Permission::read_write)})};
    rules.never_merge.push_back(text::Glob::compile("*.lock").value());
    office.gate->set_rules(std::move(rules));
    office.files.put("f.lock", "one\ntwo\nthree\n");
    ASSERT_TRUE(stage("f.lock"));
    ASSERT_EQ(office.edit("f.lock", "one", "1"), "ok");
    ASSERT_EQ(office.edit("f.lock", "three", "3", "bob"), "ok");

    EXPECT_EQ(FileOffice::reason(unstage("f.lock", true)), "needs_resolution");

    EXPECT_EQ(text_of("f.lock", "ada"), "1\ntwo\nthree\n");
    EXPECT_EQ(undo("f.lock", "bob"), "ok");
    EXPECT_TRUE(unstage("f.lock", true));
    EXPECT_EQ(office.text("f.lock"), "1\ntwo\nthree\n");
}

std::set<std::string> words_in(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

// Two actors with copies and one without edit at random; every word is new. A merge loses no word
// that either side brought, and brings back none that either side took out.
TEST_F(Staging, AMergeLosesNoWordOfEitherSide) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::size_t limit) { return random() % limit; };
        std::size_t next = 0;
        const std::string path = cat("t", seed);
        std::string first;
        for (; next < 12; next += 2) cat_to(first, cat("w", next, " w", next + 1, "\n"));
        office.files.put(path, first);
        const std::vector<std::string> actors = {"ada", "bob", "eve"};
        ASSERT_TRUE(stage(path, "ada"));
        ASSERT_TRUE(stage(path, "bob"));
        for (int step = 0; step < 12; ++step) {
            const std::string& by = actors[below(3)];
            const std::string now = text_of(path, by);
            const std::set<std::string> words = words_in(now);
            if (words.empty()) continue;
            const std::string find =
                *std::next(words.begin(), static_cast<long>(below(words.size())));
            if (below(6) == 0 && by != "eve") {
                const std::set<std::string> shared = words_in(text_of(path, "eve"));
                const std::string before = first;
                const auto merged = unstage(path, true, by);
                ASSERT_TRUE(merged) << "seed " << seed;
                const std::set<std::string> after = words_in(text_of(path, "eve"));
                const std::set<std::string> base =
                    words_in(bases_[by].empty() ? before : bases_[by]);
                for (const std::string& word : words) {
                    if (!base.contains(word)) {
                        EXPECT_TRUE(after.contains(word)) << word << ", seed " << seed;
                    }
                }
                for (const std::string& word : shared) {
                    if (!base.contains(word)) {
                        EXPECT_TRUE(after.contains(word)) << word << ", seed " << seed;
                    }
                }
                for (const std::string& word : after)
                    EXPECT_TRUE(words.contains(word) || shared.contains(word))
                        << word << ", seed " << seed;
                bases_[by] = text_of(path, "eve");
                ASSERT_TRUE(stage(path, by));
                continue;
            }
            const std::string with = below(4) == 0   ? cat(find, "\nw", next++)
                                     : below(3) == 0 ? cat(find, " w", next++)
                                                     : cat("w", next++);
            // A word may be the beginning of another; then the first match is taken, as good as any.
            ASSERT_EQ(office.edit(path, cat(find), with, by), "ok");
        }
        bases_.clear();
    }
}

TEST(MergeStage, TakesDisjointChangesExactly) {
    const Unstaged merged = merge_stage("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n");
    EXPECT_EQ(merged.text, "A\nb\nc\nD\n");
    EXPECT_EQ(merged.overlaps, 0U);
    EXPECT_EQ(merge_stage("a\n", "b\n", "b\n").text, "b\n");
    EXPECT_EQ(merge_stage("a\n", "a\n", "").text, "");
}

}  // namespace
}  // namespace quire::kernel

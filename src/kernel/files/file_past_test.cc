// The past of files: every version, differences between them and to the disk, and going back.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/files/file_office_for_test.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

using Id = std::optional<std::string>;

Result<FileDiff> diff(FileOffice& office, const std::string& path, Id from = {}, Id to = {}) {
    return office.ask<FileDiff>([&](auto reply) {
        office.calls->diff(FileOffice::as("reader"), path, from, to, std::move(reply));
    });
}
Result<FileEdited> roll_back(FileOffice& office, const std::string& path,
                             const std::string& version, const std::string& by = "ada") {
    return office.ask<FileEdited>([&](auto reply) {
        office.calls->rollback(FileOffice::as(by), path, version, std::move(reply));
    });
}
Result<FileHistory> history(FileOffice& office, const std::string& path) {
    return office.ask<FileHistory>([&](auto reply) {
        office.calls->history(FileOffice::as("reader"), path, 1000, "", std::move(reply));
    });
}
Result<Undone> undo(FileOffice& office, const std::string& path, const std::string& by,
                    bool redo = false) {
    return office.ask<Undone>([&](auto reply) {
        office.calls->undo(FileOffice::as(by), path,
                           last_of(cat("agent:", by), UndoScope::own, redo), std::move(reply));
    });
}

// Applies a unified diff to a text, as programs do.
std::string patched(const std::string& before, const std::string& diff) {
    struct Line {
        char kind;
        std::string text;
    };
    std::vector<Line> lines;
    const std::vector<std::string_view> all = text::split_lines(diff);
    for (std::size_t i = 2; i < all.size(); ++i) {
        if (all[i][0] == '\\') {
            lines.back().text.pop_back();
        } else {
            lines.push_back({all[i][0], std::string(all[i].substr(1))});
        }
    }
    const std::vector<std::string_view> old = text::split_lines(before);
    std::size_t at = 0;
    std::string out;
    for (const Line& line : lines) {
        if (line.kind == '@') {
            unsigned start = 0;
            unsigned count = 1;
            std::sscanf(line.text.c_str(), "@ -%u,%u", &start, &count);
            for (const std::size_t first = count == 0 ? start : start - 1; at < first; ++at)
                out += old[at];
        } else if (line.kind == '+') {
            out += line.text;
        } else {
            EXPECT_TRUE(at < old.size() && old[at] == line.text) << "line " << at << "\n" << diff;
            if (at < old.size() && line.kind == ' ') out += old[at];
            ++at;
        }
    }
    for (; at < old.size(); ++at) out += old[at];
    return out;
}

TEST(FilePast, ADiffWithoutAnOlderVersionIsAgainstTheDisk) {
    FileOffice office;
    office.files.put("a.txt", "one\ntwo\n");
    office.edit("a.txt", "two", "2");

    EXPECT_EQ(diff(office, "a.txt")->diff.diff,
              "--- a.txt\ton disk\n+++ a.txt\tversion 2\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    ASSERT_TRUE(office.save("a.txt"));
    EXPECT_EQ(diff(office, "a.txt")->diff.diff, "");
    EXPECT_EQ(diff(office, "a.txt", {}, "1")->diff.diff,
              "--- a.txt\ton disk\n+++ a.txt\tversion 1\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n");
    EXPECT_EQ(FileOffice::reason(diff(office, "a.txt", "7")), "invalid_reference");
    EXPECT_EQ(FileOffice::reason(diff(office, "none")), "file_not_found");
}

TEST(FilePast, TheDisksSideOfAConflictCanBeRead) {
    FileOffice office;
    office.files.put("f", "one\ntwo\n");
    office.edit("f", "two", "ours");
    office.files.put("f", "one\ntheirs\n");

    EXPECT_EQ(patched("one\ntheirs\n", diff(office, "f")->diff.diff), office.text("f"));
    EXPECT_NE(diff(office, "f")->diff.diff.find("-theirs\n"), std::string::npos);
}

TEST(FilePast, AFileThatIsGoneFromTheDiskDiffersByAllOfIt) {
    FileOffice office;
    office.files.put("f", "one\n");
    office.edit("f", "one", "1");
    office.files.erase("f");

    EXPECT_EQ(diff(office, "f")->diff.diff,
              "--- f\ton disk\n+++ f\tversion 2\n@@ -0,0 +1 @@\n+1\n");
}

TEST(FilePast, TheDiskIsComparedByItsText) {
    FileOffice office;
    const std::string marked = "\xEF\xBB\xBFone\r\ntwo";
    office.files.put("f", marked);

    EXPECT_EQ(diff(office, "f")->diff.diff, "");
    office.edit("f", "two", "2");
    ASSERT_TRUE(office.save("f"));
    ASSERT_TRUE(roll_back(office, "f", "1"));
    ASSERT_TRUE(office.save("f"));
    EXPECT_EQ(office.disk("f"), marked);
}

TEST(FilePast, ARollbackNeedsWhatAnEditNeeds) {
    FileOffice office;
    for (const char* path : {"locked/f", "ask/f", "log/f"}) {
        office.files.put(path, "one\n");
        ASSERT_EQ(office.text(path), "one\n");
        office.files.put(path, "one\ntwo\n");
        ASSERT_EQ(office.text(path), "one\ntwo\n");
        EXPECT_EQ(FileOffice::reason(roll_back(office, path, "1")),
                  std::string(path) == "ask/f" ? "escalation_required" : "permission_denied");
        EXPECT_EQ(office.text(path), "one\ntwo\n") << path;
        EXPECT_EQ(history(office, path)->page.versions.size(), 2U);
    }
}

TEST(FilePast, ARollbackIsSavedWithTheCallWhereEditsAre) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "one\n");
    ASSERT_EQ(office.edit("f", "one", "1"), "ok");

    ASSERT_TRUE(roll_back(office, "f", "1"));
    EXPECT_EQ(office.disk("f"), "one\n");
    office.store.fail_next();
    EXPECT_EQ(FileOffice::reason(roll_back(office, "f", "2")), "disk_full");
    EXPECT_EQ(office.disk("f"), "one\n");
    EXPECT_EQ(office.text("f"), "one\n");
}

TEST(FilePast, AnUndoIsSavedWithTheCallWhereEditsAre) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "one\ntwo\n");
    ASSERT_EQ(office.edit("f", "one", "1"), "ok");
    ASSERT_EQ(office.edit("f", "two", "2", "bo"), "ok");

    ASSERT_TRUE(undo(office, "f", "ada"));
    EXPECT_EQ(office.disk("f"), "one\n2\n");
    ASSERT_TRUE(undo(office, "f", "ada", true));
    EXPECT_EQ(office.disk("f"), "1\n2\n");
    EXPECT_FALSE(office.status("f").dirty);
    EXPECT_EQ(FileOffice::reason(undo(office, "f", "cy")), "nothing_to_undo");

    office.store.fail_next();
    EXPECT_EQ(FileOffice::reason(undo(office, "f", "bo")), "disk_full");
    EXPECT_EQ(office.disk("f"), "1\n2\n");
    EXPECT_EQ(office.text("f"), "1\n2\n");
    const auto all = office.ask<Undone>([&](auto reply) {
        office.calls->undo(FileOffice::as("cy"), "f", {.actor = {}, .all_since = 0},
                           std::move(reply));
    });
    ASSERT_TRUE(all);
    EXPECT_EQ(office.disk("f"), "one\ntwo\n");
}

TEST(FilePast, AnUndoThatFindsNothingLeftIsUsedUp) {
    FileOffice office;
    office.calls->set_save(SaveWhen::on_commit);
    office.files.put("f", "one\n");
    ASSERT_EQ(office.edit("f", "", "1"), "ok");
    ASSERT_EQ(office.edit("f", "1", "", "bo"), "ok");

    const Result<Undone> undone = undo(office, "f", "ada");
    ASSERT_TRUE(undone);
    EXPECT_GE(undone->skipped_because_changed, 1U);
    EXPECT_EQ(office.disk("f"), "one\n");
    EXPECT_EQ(FileOffice::reason(undo(office, "f", "ada")), "nothing_to_undo");
}

// Three actors and the disk, who edit a file, save it, take back and bring back. What was read at each
// version is kept, and must come out of the history again.
class Past {
public:
    explicit Past(unsigned seed) : random_(seed) {
        if (below(2) == 0) office_.calls->set_save(SaveWhen::on_commit);
        office_.files.put("f", "one\ntwo\nthree\nfour\n");
    }

    // Reads the file: its text at a version never changes.
    void look() {
        const Result<FileRead> file = office_.read("f");
        ASSERT_TRUE(file);
        std::string text;
        for (const std::string& line : file->text.lines) text += line;
        const auto [at, is_new] = seen_.emplace(file->file.version, text);
        ASSERT_EQ(at->second, text) << "version " << file->file.version;
    }
    void step() {
        const std::string by = pick({"ada", "bo", "cy"});
        switch (below(8)) {
            case 0:
                office_.files.put("f", changed(office_.disk("f")));
                break;
            case 1:
                static_cast<void>(office_.save("f", by));
                break;
            case 2: {
                const Result<Undone> undone = undo(office_, "f", by, below(3) == 0);
                if (undone && office_.calls->saves_on_commit()) {
                    ASSERT_EQ(office_.disk("f"), office_.text("f"));
                }
                break;
            }
            case 3:
                if (below(3) == 0) office_.restart();
                break;
            default:
                edit(by);
        }
    }
    // The difference between any two versions leads from one text to the other.
    void check_differences() {
        read_versions();
        ASSERT_GE(versions_.size(), 5U);
        for (int i = 0; i < 30; ++i) {
            const std::uint64_t a = any_version(), b = any_version();
            const Result<FileDiff> found = diff(office_, "f", cat(a), cat(b));
            ASSERT_TRUE(found);
            ASSERT_EQ(patched(seen_[a], found->diff.diff), seen_[b]) << a << " to " << b;
        }
    }
    // A rollback brings back the text of its version, and its undo the text of before.
    void check_rollbacks() {
        const std::string now = office_.text("f");
        for (int i = 0; i < 8; ++i) {
            const std::uint64_t version = any_version();
            const Result<FileEdited> back = roll_back(office_, "f", cat(version));
            if (!back) {
                ASSERT_EQ(back.error().reason(), "needs_resolution");
                break;
            }
            ASSERT_EQ(office_.text("f"), seen_[version]) << version;
            if (back->edited.no_op) continue;
            ASSERT_TRUE(undo(office_, "f", "ada"));
            ASSERT_EQ(office_.text("f"), now) << version;
        }
        ASSERT_EQ(patched(office_.disk("f"), diff(office_, "f")->diff.diff), office_.text("f"));
    }

private:
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
    std::string pick(const std::vector<std::string>& words) { return words[below(words.size())]; }
    std::uint64_t any_version() { return versions_[below(versions_.size())]; }
    std::string changed(std::string text) {
        const std::size_t at = below(text.size() + 1);
        const std::size_t erase = below(std::min<std::size_t>(text.size() - at, 12) + 1);
        return text.replace(at, erase,
                            pick({"", "a", "word ", "line\n", "\n", "x\ny\n", "no end"}));
    }
    void edit(const std::string& by) {
        // Unequal texts around one place, so that a plan by offset can be made.
        const auto plan = [&](const seq::Rope& rope, std::uint64_t) -> Result<edits::Planned> {
            return edits::Planned{text::minimal_splices(rope.str(), changed(rope.str())), {}};
        };
        static_cast<void>(office_.ask<FileEdited>([&](auto reply) {
            office_.calls->edit(FileOffice::as(by), "f", "edit", plan, std::move(reply));
        }));
    }
    // The versions whose texts were seen.
    void read_versions() {
        const Result<FileHistory> past = history(office_, "f");
        ASSERT_TRUE(past);
        for (const HistoryEntry& entry : past->page.versions) {
            const std::uint64_t version = std::stoull(entry.version_id);
            if (seen_.contains(version)) versions_.push_back(version);
        }
    }

    std::mt19937 random_;
    FileOffice office_;
    std::map<std::uint64_t, std::string> seen_;
    std::vector<std::uint64_t> versions_;
};

TEST(FilePast, EveryVersionIsWhatWasReadThen) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(cat("seed ", seed));
        Past past(seed);
        past.look();
        for (int step = 0; step < 40 && !HasFatalFailure(); ++step) {
            past.step();
            past.look();
        }
        if (!HasFatalFailure()) past.check_differences();
        if (!HasFatalFailure()) past.check_rollbacks();
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace quire::kernel

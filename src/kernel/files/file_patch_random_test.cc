// Random patches over several files, with faults, against a map of their contents: each is done
// whole or not at all, in the documents and on the disk.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "edits/patch.h"
#include "kernel/files/file_office_for_test.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

using Contents = std::map<std::string, std::string>;

class RandomPatches {
public:
    explicit RandomPatches(std::uint64_t seed) : random_(seed) {
        office_.calls->set_save(SaveWhen::on_commit);
        for (int i = 0; i < 6; ++i) {
            const std::string path = cat("free/f", i);
            contents_[path] = some_lines();
            office_.files.put(path, contents_[path]);
            static_cast<void>(office_.text(path));
        }
    }

    void round() {
        Contents after = contents_;
        std::string patch;
        std::size_t parts = 0;
        const Contents before = contents_;
        for (const auto& [path, content] : before) {
            if (below(2) == 0) continue;
            ++parts;
            add_part(path, content, patch, after);
        }
        if (below(2) == 0) {
            const std::string path = new_path();
            after[path] = some_lines();
            patch += text::unified_diff("", after[path], {.from = "/dev/null", .to = "b/" + path});
            ++parts;
        }
        if (parts == 0) return;
        enum Fault { none, bad_hunk, full_disk, foreign_change };
        const auto fault = static_cast<Fault>(below(4));
        if (fault == bad_hunk) patch += "--- a/free/none\n+++ b/free/none\n@@ -1 +1 @@\n-x\n+y\n";
        if (fault == full_disk) office_.store.fail_next();
        if (fault == foreign_change) change_some_file(after);

        auto files = edits::parse_patch(patch);
        ASSERT_TRUE(files) << files.error().message() << "\n" << patch;
        const auto done = office_.ask<Patched>([&](auto reply) {
            office_.calls->patch(FileOffice::as("ada"), {std::move(*files)}, std::move(reply));
        });
        if (fault != foreign_change) {
            ASSERT_EQ(done.has_value(), fault != bad_hunk && fault != full_disk)
                << (done ? "" : done.error().message()) << "\n" << patch;
        }
        (done ? done_ : refused_) += 1;
        if (done) contents_ = after;
        check(patch);
    }

    int done() const { return done_; }
    int refused() const { return refused_; }

private:
    std::size_t below(std::size_t limit) { return random_() % limit; }
    std::string new_path() { return cat("free/d", below(3), "/n", ++names_); }

    std::string some_lines() {
        std::string out;
        for (std::size_t i = 1 + below(12); i > 0; --i) out += cat("line ", ++lines_, "\n");
        return out;
    }

    std::string edited(std::string text) {
        const std::size_t at = text.find('\n', below(text.size()));
        text.insert(at == std::string::npos ? text.size() : at + 1, cat("more ", ++lines_, "\n"));
        if (below(3) == 0) text.erase(0, text.find('\n') + 1);
        return text;
    }

    void add_part(const std::string& path, const std::string& content, std::string& patch,
                  Contents& after) {
        const std::string from = "a/" + path;
        const std::string to = "b/" + path;
        const std::size_t what = below(4);
        if (what == 0) {
            patch += text::unified_diff(content, "", {.from = from, .to = "/dev/null"});
            after.erase(path);
        } else if (what == 1) {
            const std::string moved = new_path();
            patch += cat("diff --git ", from, " b/", moved, "\nrename from ", path, "\nrename to ",
                         moved, "\n");
            after.erase(path);
            after[moved] = below(2) == 0 ? content : edited(content);
            patch += text::unified_diff(content, after[moved], {.from = from, .to = "b/" + moved});
        } else {
            after[path] = edited(content);
            patch += text::unified_diff(content, after[path], {.from = from, .to = to});
        }
    }

    // Another program writes a file that may be in the patch. Its line stays if the patch is done.
    void change_some_file(Contents& after) {
        if (contents_.empty()) return;
        auto at = contents_.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(below(contents_.size())));
        at->second = cat("foreign ", ++lines_, "\n", at->second);
        office_.files.put(at->first, at->second);
        // A patch that deletes or moves a file which was changed is refused; one that edits it is
        // done.
        const auto then = after.find(at->first);
        const std::string line = at->second.substr(0, at->second.find('\n') + 1);
        if (then != after.end()) then->second.insert(0, line);
    }

    void check(const std::string& patch) {
        for (const auto& [path, content] : contents_) {
            ASSERT_EQ(office_.disk(path), content) << path << "\n" << patch;
            ASSERT_EQ(office_.text(path), content) << path << "\n" << patch;
        }
        const auto there = office_.files.list(1000, {});
        ASSERT_TRUE(there);
        ASSERT_EQ(there->entries.size(), contents_.size()) << patch;
    }

    std::mt19937_64 random_;
    FileOffice office_;
    Contents contents_;
    std::size_t lines_ = 0;
    std::size_t names_ = 0;
    int done_ = 0;
    int refused_ = 0;
};

TEST(FilePatchRandom, APatchIsDoneWholeOrNotAtAll) {
    int done = 0;
    int refused = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        RandomPatches patches(seed);
        for (int i = 0; i < 15; ++i) {
            ASSERT_NO_FATAL_FAILURE(patches.round()) << "seed " << seed << ", round " << i;
        }
        done += patches.done();
        refused += patches.refused();
    }
    EXPECT_GT(done, 100);
    EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace quire::kernel

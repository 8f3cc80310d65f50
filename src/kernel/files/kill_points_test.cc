// A kernel that is killed between any two of its steps on the disk and in the store. The next one comes
// to the same texts and conflicts as one that was left alone.
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "kernel/files/file_office_for_test.h"
#include "kernel/files/recent_saves.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

constexpr std::size_t kForever = 1'000'000;

// Files that can be written so many times more. The store of the same kernel counts with them.
class MortalFiles final : public fs::FileSystem {
public:
    explicit MortalFiles(std::shared_ptr<std::size_t> steps) : steps_(std::move(steps)) {}

    Result<fs::Place> resolve(std::string_view path) override { return files.resolve(path); }
    Result<fs::Stamp> stamp(const std::string& path) override { return files.stamp(path); }
    Result<fs::FileBytes> read(const std::string& path, std::size_t limit) override {
        return files.read(path, limit);
    }
    Result<fs::FileBytes> peek(const std::string& path, std::size_t limit) override {
        return files.peek(path, limit);
    }
    Result<fs::Saved> save(const std::string& path, std::string_view bytes,
                           const fs::Hash& expected) override {
        TRY(step());
        return files.save(path, bytes, expected);
    }
    Result<fs::Saved> create(const std::string& path, std::string_view bytes) override {
        TRY(step());
        return files.create(path, bytes);
    }
    Result<void> remove(const std::string& path, const fs::Hash& expected) override {
        TRY(step());
        return files.remove(path, expected);
    }
    Result<fs::Listing> list(std::size_t limit, const fs::IgnoreNames& ignore) override {
        return files.list(limit, ignore);
    }
    Result<std::size_t> sweep() override { return files.sweep(); }

    fs::MemoryFiles files;

private:
    Result<void> step() {
        if (*steps_ == 0) return fail(Errc::unavailable, "killed", "the program was killed");
        --*steps_;
        return {};
    }
    const std::shared_ptr<std::size_t> steps_;
};

// The texts in the end, and of each conflict its two sides and what both came from.
struct Outcome {
    std::string shown;
    std::string disk;
    std::vector<std::tuple<std::string, std::string, std::string>> conflicts;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Two sides' random edits of a few lines, the same for the same seed.
class Script {
public:
    explicit Script(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t limit) { return random_() % limit; }
    std::string changed(const std::string& text, char mark) {
        std::vector<std::string> lines;
        for (const std::string_view line : text::split_lines(text)) lines.emplace_back(line);
        for (std::size_t edits = 1 + below(2); edits > 0; --edits) {
            const std::size_t at = below(lines.size());
            const std::string word = cat(std::string(1, mark), next_++, "\n");
            switch (below(3)) {
                case 0:
                    lines[at] = word;
                    break;
                case 1:
                    lines[at] += word;
                    break;
                default:
                    lines[at].insert(0, word);
            }
        }
        std::string out;
        for (const std::string& line : lines) out += line;
        return out;
    }

private:
    std::mt19937 random_;
    int next_ = 10;
};

void edit(FileOffice& office, const std::string& after) {
    const std::string before = office.text("f");
    const auto plan = [&](const seq::Rope&, std::uint64_t) -> Result<edits::Planned> {
        return edits::Planned{text::minimal_splices(before, after), {}};
    };
    ASSERT_TRUE(office.ask<FileEdited>([&](auto reply) {
        office.calls->edit(FileOffice::as("ada"), "f", "edit", plan, std::move(reply));
    }));
}

Outcome outcome_of(FileOffice& office, fs::MemoryFiles& files) {
    Outcome out;
    out.shown = office.text("f");
    for (const FileConflict& each : office.conflicts("f"))
        out.conflicts.emplace_back(each.base, each.agent, each.disk);
    out.disk = files.read("f", 1 << 20)->bytes;
    return out;
}

// An agent has saved an edit and then made another, and another program writes the file. Then the change
// is taken in, what conflicts is settled, and the file is saved: at most so many steps of it. A kernel
// that did not come to the end is followed by one that does. `steps` becomes how many were left.
Outcome run(unsigned seed, std::size_t& steps) {
    const auto left = std::make_shared<std::size_t>(kForever);
    MortalFiles files(left);
    Script script(seed);
    FileOffice office(&files);
    office.store.end_after(left);
    files.files.put("f", "one\ntwo\nthree\nfour\nfive\nsix\n");
    edit(office, script.changed(office.text("f"), 'S'));
    EXPECT_TRUE(office.save("f"));
    const std::string disk = files.files.read("f", 1 << 20)->bytes;
    edit(office, script.changed(disk, 'A'));
    files.files.pass(RecentSaves::kWithinNs);
    files.files.put("f", script.changed(disk, 'D'));
    const ConflictChoice choice =
        script.below(2) == 0 ? ConflictChoice::agent : ConflictChoice::disk;

    const auto finish = [&] {
        static_cast<void>(office.text("f"));
        if (!office.conflicts("f").empty()) static_cast<void>(office.resolve("f", choice));
        static_cast<void>(office.save("f"));
    };
    *left = steps;
    finish();
    steps = *left;
    if (*left == 0) {
        office.restart();
        *left = kForever;
        finish();
    }
    return outcome_of(office, files.files);
}

TEST(KillPoints, TheNextKernelComesToTheSameTexts) {
    std::size_t kills = 0;
    for (unsigned seed = 0; seed < 200U / kRoundsShare; ++seed) {
        SCOPED_TRACE(cat("seed ", seed));
        std::size_t left = kForever;
        const Outcome alone = run(seed, left);
        ASSERT_EQ(alone.shown, alone.disk);
        const std::size_t steps = kForever - left;
        ASSERT_GT(steps, 1U);
        for (std::size_t k = 0; k < steps; ++k, ++kills) {
            std::size_t at = k;
            const Outcome killed = run(seed, at);
            ASSERT_EQ(killed.shown, alone.shown) << "after step " << k << " of " << steps;
            ASSERT_EQ(killed, alone) << "after step " << k << " of " << steps;
        }
    }
    EXPECT_GT(kills, 400U / kRoundsShare);
}

}  // namespace
}  // namespace quire::kernel

// Random trials of files that agents and the disk change at the same time: nothing that either side
// wrote is lost, what does not overlap is merged exactly, and a restart changes nothing.
//
// With QUIRE_LONG there are 20,000 of them.
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/file_office_for_test.h"
#include "text/diff.h"
#include "text/merge3.h"

namespace quire::kernel {
namespace {

// Files in memory are slow when there are many.
constexpr int kFilesPerOffice = 50;

int trials() {
    return std::getenv("QUIRE_LONG") != nullptr ? 20'000 : 2000 / kRoundsShare;
}

using Words = std::set<std::string>;

// The words of a text that one of the sides made up: a mark and a number.
void add_words(std::string_view text, Words& out) {
    std::string word;
    for (const char c : cat(text, " ")) {
        const bool in_word = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (in_word) {
            word += c;
            continue;
        }
        if (word.size() > 1) out.insert(word);
        word.clear();
    }
}
Words words_of_text(std::string_view text) {
    Words out;
    add_words(text, out);
    return out;
}

// The words of a text and of the records of its conflicts.
Words words_kept(std::string_view text, const std::vector<FileConflict>& conflicts) {
    Words kept = words_of_text(text);
    for (const FileConflict& conflict : conflicts) {
        for (const std::string* side : {&conflict.base, &conflict.agent, &conflict.disk})
            add_words(*side, kept);
    }
    return kept;
}

// Changes a text at random. Every word that it inserts is new.
class Editor {
public:
    explicit Editor(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }
    std::string new_word(char mark) { return cat(std::string(1, mark), next_++); }

    std::string new_text() {
        std::string out;
        for (std::size_t lines = 2 + below(8); lines > 0; --lines) {
            for (std::size_t words = 1 + below(4); words > 0; --words)
                out += new_word('B') + (words > 1 ? " " : "");
            out += '\n';
            if (below(5) == 0) out += '\n';
        }
        if (below(6) == 0) out.pop_back();
        return out;
    }

    std::string changed(const std::string& text, char mark) {
        std::vector<std::string> lines;
        for (const std::string_view line : text::split_lines(text)) lines.emplace_back(line);
        for (std::size_t edits = 1 + below(3); edits > 0; --edits) change(lines, mark);
        std::string out;
        for (const std::string& line : lines) out += line;
        return out;
    }

private:
    void change(std::vector<std::string>& lines, char mark) {
        const std::size_t at = below(lines.size() + 1);
        const bool at_end = at == lines.size();
        if (at_end && at > 0 && !lines.back().ends_with('\n')) lines.back() += '\n';
        switch (at_end ? 0 : below(5)) {
            case 0:
                lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at),
                             new_word(mark) + "\n");
                break;
            case 1:
                lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
                break;
            case 2:
                lines[at] = new_word(mark) + "\n";
                break;
            case 3:
                lines[at].insert(0, new_word(mark) + " ");
                break;
            case 4: {
                const std::size_t blank = lines[at].find(' ');
                if (blank == std::string::npos) {
                    lines[at] = new_word(mark) + "\n";
                } else {
                    lines[at].replace(0, blank, new_word(mark));
                }
                break;
            }
        }
    }

    std::mt19937 random_;
    int next_ = 10;
};

// A file with what its two sides are known to have.
struct Trial {
    FileOffice& office;
    Editor& editor;
    std::string path;
    std::string disk;  // The disk's text that was last taken in.
    std::string read = {};  // Another program read this, before a save.

    LiveDocument& document() const {
        return *office.kernel->core()->catalog().find(Name{kFileKind, path});
    }
    std::string at(const files::Version& version) const {
        const Result<std::string> text = text_at(document(), version);
        return text ? *text : cat("<", text.error().message(), ">");
    }

    void edit_as_agent() const {
        const std::string before = office.text(path);
        const std::string after = editor.changed(before, 'A');
        const auto plan = [&](const seq::Rope&, std::uint64_t) -> Result<edits::Planned> {
            return edits::Planned{text::minimal_splices(before, after), {}};
        };
        ASSERT_TRUE(office.ask<FileEdited>([&](auto reply) {
            office.calls->edit(FileOffice::as("ada"), path, "edit", plan, std::move(reply));
        }));
        ASSERT_EQ(office.text(path), after);
    }

    // Another program writes the file, and the kernel takes that in.
    void change_disk() {
        const std::string ours = office.text(path);
        const std::string theirs = editor.changed(disk, 'D');
        const std::vector<FileConflict> before = office.conflicts(path);
        const files::Version version = version_of(document());
        office.files.pass(RecentSaves::kWithinNs);  // It has seen what was saved.
        office.files.put(path, theirs);
        if (editor.below(40) == 0) office.restart();

        const std::string merged = office.text(path);

        const std::vector<FileConflict> after = office.conflicts(path);
        const Words kept = words_kept(merged, after);
        const Words known = words_of_text(disk);
        Words open;  // Words of the disk that only the records have.
        for (const FileConflict& conflict : before) {
            const Words base = words_of_text(conflict.base);
            for (const std::string& word : words_of_text(conflict.disk))
                if (!base.contains(word)) open.insert(word);
        }
        // The text that both sides came from, where a conflict was open, is nobody's own: a later
        // change of the disk may delete it.
        Words common = known;
        for (const FileConflict& conflict : before) add_words(conflict.base, common);
        for (const std::string& word : words_of_text(ours))
            ASSERT_TRUE(common.contains(word) || kept.contains(word)) << word << told(ours, theirs);
        for (const std::string& word : words_of_text(theirs)) {
            const bool brought = !known.contains(word) || open.contains(word);
            ASSERT_TRUE(!brought || kept.contains(word)) << word << told(ours, theirs);
        }
        if (before.empty()) {
            const text::Merged expected =
                text::merge3(disk, ours, theirs, text::Side::ours, text::Side::theirs);
            ASSERT_EQ(merged, expected.text) << told(ours, theirs);
            ASSERT_EQ(after.size(), expected.ties.size()) << told(ours, theirs);
        }
        ASSERT_EQ(at(version), ours) << told(ours, theirs);
        ASSERT_EQ(at(office.gate->state(document())->version), theirs) << told(ours, theirs);
        for (const FileConflict& conflict : after) {
            ASSERT_NE(theirs.find(conflict.disk), std::string::npos) << told(ours, theirs);
            ASSERT_NE(merged.find(conflict.agent), std::string::npos) << told(ours, theirs);
        }
        disk = theirs;
        stay(merged, after.size());
    }

    // Another program writes the file from what it had read before a save. Nothing of it, of the
    // save and of edits that are not saved is lost.
    void write_over_a_save() {
        const std::string ours = office.text(path);
        const std::string theirs = editor.changed(read, 'D');
        if (theirs == read) return;
        const files::Version version = version_of(document());
        office.files.put(path, theirs);

        const std::string merged = office.text(path);

        const std::vector<FileConflict> after = office.conflicts(path);
        const Words kept = words_kept(merged, after);
        const Words known = words_of_text(read);
        for (const std::string* side : {&ours, &theirs}) {
            for (const std::string& word : words_of_text(*side))
                ASSERT_TRUE(known.contains(word) || kept.contains(word))
                    << word << "\n--- read\n"
                    << read << told(ours, theirs) << "--- merged\n"
                    << merged;
        }
        ASSERT_EQ(at(version), ours) << told(ours, theirs);
        disk = office.disk(path);
        ASSERT_EQ(at(office.gate->state(document())->version), disk) << told(ours, theirs);
        stay(merged, after.size());
    }

    // Checks that a change that was taken in is not taken in again.
    void stay(const std::string& text, std::size_t conflicts) const {
        const std::uint64_t version = office.read(path)->file.version;
        office.files.put(path, disk);
        ASSERT_EQ(office.text(path), text);
        ASSERT_EQ(office.read(path)->file.version, version);
        ASSERT_EQ(office.conflicts(path).size(), conflicts);
        ASSERT_EQ(office.status(path).conflict, conflicts > 0);
    }

    void settle_and_save() {
        constexpr ConflictChoice kChoices[] = {ConflictChoice::disk, ConflictChoice::agent,
                                               ConflictChoice::merge};
        for (const FileConflict& conflict : office.conflicts(path)) {
            ASSERT_NE(FileOffice::reason(office.save(path)), "ok");
            ASSERT_EQ(office.disk(path), disk);
            FileResolve what;
            what.path = path;
            what.conflict_id = conflict.conflict_id;
            what.choice = kChoices[editor.below(3)];
            const auto resolved = office.resolve(what);
            ASSERT_TRUE(resolved) << resolved.error().message();
            Words now = words_of_text(office.text(path));
            // A merge drops a word that one side deleted and the other left alone.
            const Words base = words_of_text(conflict.base);
            const bool merges = what.choice == ConflictChoice::merge;
            const bool wants_agent = what.choice != ConflictChoice::disk;
            for (const std::string& word : words_of_text(conflict.agent)) {
                const bool stays = wants_agent && !(merges && base.contains(word));
                ASSERT_TRUE(!stays || now.contains(word)) << word;
            }
            const bool wants_disk = what.choice != ConflictChoice::agent;
            for (const std::string& word : words_of_text(conflict.disk)) {
                const bool stays = wants_disk && !(merges && base.contains(word));
                ASSERT_TRUE(!stays || now.contains(word)) << word;
            }
        }
        ASSERT_TRUE(office.conflicts(path).empty());
        const std::string text = office.text(path);
        const auto saved = office.save(path);
        ASSERT_TRUE(saved) << saved.error().message();
        disk = text;
        ASSERT_EQ(office.disk(path), text);
        ASSERT_FALSE(office.status(path).dirty);
        office.reconcile({path});  // Says what came of the changes before.
        ASSERT_EQ((*office.reconcile({path}))[0].result, ReconcileResult::no_change);
    }

    std::string told(const std::string& ours, const std::string& theirs) const {
        return cat("\n--- base\n", disk, "--- ours\n", ours, "--- theirs\n", theirs);
    }
};

TEST(DiskTrials, NothingThatEitherSideWroteIsLost) {
    std::unique_ptr<FileOffice> office;
    std::size_t conflicts = 0;
    for (int i = 0; i < trials(); ++i) {
        if (i % kFilesPerOffice == 0) office = std::make_unique<FileOffice>();
        SCOPED_TRACE(cat("trial ", i));
        Editor editor(static_cast<unsigned>(i));
        Trial trial{*office, editor, cat("f", i), editor.new_text()};
        office->files.put(trial.path, trial.disk);
        ASSERT_EQ(office->text(trial.path), trial.disk);
        for (std::size_t events = 1 + editor.below(4); events > 0; --events) {
            if (editor.below(4) > 0) trial.edit_as_agent();
            if (HasFatalFailure()) return;
            trial.change_disk();
            if (HasFatalFailure()) return;
            conflicts += office->conflicts(trial.path).size();
            if (editor.below(4) == 0) trial.settle_and_save();
            if (HasFatalFailure()) return;
        }
        trial.settle_and_save();
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(conflicts, static_cast<std::size_t>(trials()) / 10);
}

TEST(DiskTrials, AProgramThatWritesOverSavesLosesNothing) {
    std::unique_ptr<FileOffice> new_office;
    std::size_t conflicts = 0;
    for (int i = 0; i < trials(); ++i) {
        SCOPED_TRACE(cat("trial ", i));
        if (i % kFilesPerOffice == 0) new_office = std::make_unique<FileOffice>();
        FileOffice& office = *new_office;
        Editor editor(static_cast<unsigned>(i));
        Trial trial{office, editor, cat("f", i), editor.new_text()};
        office.files.put(trial.path, trial.disk);
        trial.read = trial.disk;
        ASSERT_EQ(office.text(trial.path), trial.disk);
        for (std::size_t saves = 1 + editor.below(3); saves > 0; --saves) {
            // So much that what the program changes is always less.
            std::string all;
            for (int line = 0; line < 40; ++line) all += editor.new_word('A') + " saved by ada\n";
            ASSERT_EQ(office.append(trial.path, trial.disk.ends_with('\n') ? all : "\n" + all),
                      "ok");
            if (editor.below(2) == 0) trial.edit_as_agent();
            if (HasFatalFailure()) return;
            trial.settle_and_save();
            if (HasFatalFailure()) return;
            if (saves > 1 && editor.below(2) == 0) trial.read = trial.disk;
        }
        if (editor.below(3) == 0) trial.edit_as_agent();
        if (HasFatalFailure()) return;
        if (trial.read == trial.disk) continue;
        trial.write_over_a_save();
        if (HasFatalFailure()) return;
        conflicts += office.conflicts(trial.path).size();
        trial.settle_and_save();
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(conflicts, static_cast<std::size_t>(trials()) / 200);
}

// Two events of the disk that change different lines come to the same text as one.
TEST(DiskTrials, TwoChangesOfTheDiskAreAsGoodAsOne) {
    constexpr std::size_t kLines = 12;
    FileOffice office;
    for (int i = 0; i < trials() / 10; ++i) {
        Editor editor(static_cast<unsigned>(i));
        std::vector<std::string> base(kLines);
        for (std::string& line : base) line = editor.new_word('B') + "\n";
        // Each side has the lines of one residue, so that an untouched line is always between.
        const auto joined = [](const std::vector<std::string>& lines) {
            std::string out;
            for (const std::string& line : lines) out += line;
            return out;
        };
        const auto change = [&](std::vector<std::string>& lines, std::size_t at, char mark) {
            const std::string word = editor.new_word(mark);
            const std::size_t how = editor.below(3);
            lines[at] = how == 0 ? "" : how == 1 ? word + "\n" : lines[at] + word + "\n";
            return lines[at];
        };
        std::vector<std::string> ours = base;
        std::vector<std::string> first = base;
        std::vector<std::string> both = base;
        std::vector<std::string> expected = base;
        for (std::size_t at = 0; at < kLines; at += 4) expected[at] = change(ours, at, 'A');
        const std::size_t one = 2 + 4 * editor.below(3);
        const std::size_t other = (one + 4) % kLines;
        expected[one] = both[one] = change(first, one, 'D');
        expected[other] = change(both, other, 'D');
        for (const bool at_once : {false, true}) {
            const std::string path = cat("f", i, at_once ? "x" : "y");
            office.files.put(path, joined(base));
            const auto plan = [&](const seq::Rope&, std::uint64_t) -> Result<edits::Planned> {
                return edits::Planned{text::minimal_splices(joined(base), joined(ours)), {}};
            };
            ASSERT_TRUE(office.ask<FileEdited>([&](auto reply) {
                office.calls->edit(FileOffice::as("ada"), path, "edit", plan, std::move(reply));
            }));
            if (!at_once) {
                office.files.put(path, joined(first));
                office.text(path);
            }
            office.files.put(path, joined(both));

            ASSERT_EQ(office.text(path), joined(expected)) << "trial " << i;
            ASSERT_FALSE(office.status(path).conflict);
        }
    }
}

TEST(DiskTrials, AOneLineChangeOfALongFileIsSmallInTheStore) {
    FileOffice office;
    std::string base;
    for (int line = 0; line < 20'000; ++line) base += cat("line ", line, " of a long file\n");
    office.files.put("f", base);
    ASSERT_EQ(office.edit("f", "line 10 of", "line ten of"), "ok");
    const store::DocumentKey key =
        office.kernel->core()->catalog().find(Name{kFileKind, "f"})->key();
    const auto stored = [&] {
        std::size_t bytes = 0;
        const auto document = office.store.load(key);
        for (const Bytes& update : document->updates) bytes += update.size();
        return bytes;
    };
    const std::size_t before = stored();
    std::string theirs = base;
    theirs.replace(theirs.find("line 15000 of"), 4, "LINE");
    office.files.put("f", theirs);

    ASSERT_TRUE(office.read("f"));

    EXPECT_LT(stored() - before, 1024U);
    EXPECT_GT(stored(), before);
}

TEST(DiskTrials, BytesThatNobodyTouchedStayAsTheyAre) {
    FileOffice office;
    const std::string bom = "\xEF\xBB\xBF";
    office.files.put("f", bom + "one\r\ntwo\r\n\r\nfour\nfive\r\nsix");
    ASSERT_EQ(office.edit("f", "two", "2"), "ok");
    office.files.put("f", bom + "one\r\ntwo\r\n\r\nfour\nfive\r\nSIX");

    ASSERT_TRUE(office.save("f"));

    EXPECT_EQ(office.disk("f"), bom + "one\r\n2\r\n\r\nfour\nfive\r\nSIX");
}

}  // namespace
}  // namespace quire::kernel

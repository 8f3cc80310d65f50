// Searches in files that were opened and that were not, in conversations, and what the index may save.
// The index is held against a search without one, after random changes.
#include "kernel/files/workspace_search.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/share_for_test.h"
#include "base/test_directory.h"
#include "kernel/core/block_reads.h"
#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

class SearchedOffice {
public:
    SearchedOffice() { open(); }
    void open() {
        search = std::make_unique<WorkspaceSearch>(
            WorkspaceSearch::Parts{*office.kernel, office.gate.get(), nullptr, office.scheduler,
                                   directory / "search-index"});
        search->start();
        office.scheduler.run_all();
    }
    void close() {
        ASSERT_TRUE(
            office.ask<void>([&](auto reply) { search->stop(std::move(reply)); }));
        search.reset();
    }
    // Another process on the same workspace.
    void restart() {
        close();
        office.restart();
        open();
    }

    static SearchAll query(const std::string& text, text::Match mode = text::Match::literal) {
        return {.search = {text::Query::compile(text, mode).value()}, .path_prefix = {}};
    }
    Result<FoundAll> find(SearchAll what, const Caller& by = FileOffice::as("ada")) {
        return office.ask<FoundAll>(
            [&](auto reply) { search->search(by, what, std::move(reply)); });
    }
    // "NAME:LINE,LINE NAME:LINE", where a name is a path, or else a block's id.
    static std::string places(const FoundAll& found) {
        std::string out;
        for (const FoundAll::InBlock& block : found.blocks) {
            out += cat(out.empty() ? "" : " ", block.path.empty() ? block.block_id : block.path);
            for (const auto& hit : block.matches)
                out += cat(&hit == &block.matches.front() ? ":" : ",", hit.line.n);
        }
        return out;
    }
    std::string places(SearchAll what) {
        const auto found = find(std::move(what));
        return found ? places(*found) : found.error().reason();
    }
    static std::string counts(const FoundAll& found) {
        return cat(found.searched.indexed, "/", found.searched.scanned, "/", found.searched.left);
    }
    std::string counts(SearchAll what) { return counts(*find(std::move(what))); }

    std::string create(const std::string& conversation, const std::string& content,
                       conversation::Kind kind = conversation::Kind::text) {
        BlockCreate what;
        what.conversation = conversation;
        what.content = content;
        what.kind = kind;
        return office
            .ask<BlockVersion>([&](auto reply) {
                office.kernel->create(FileOffice::as("ada"), what, std::move(reply));
            })
            ->block_id;
    }

    TestDirectory directory;
    FileOffice office;
    std::unique_ptr<WorkspaceSearch> search;
};

TEST(WorkspaceSearch, FindsFilesThatNobodyHasOpened) {
    SearchedOffice it;
    it.office.files.put("src/b.txt", "one\ntwo needle\n");
    it.office.files.put("src/a.txt", "needle\nneedle\n");
    it.office.files.put("c.txt", "nothing\n");

    const auto found = it.find(it.query("needle"));

    ASSERT_TRUE(found);
    EXPECT_EQ(it.places(*found), "src/a.txt:0,1 src/b.txt:1");
    EXPECT_EQ(found->blocks.front().block_id, "file:src/a.txt");
    EXPECT_FALSE(found->truncated);
    SearchAll below = it.query("needle");
    below.path_prefix = "src/b";
    EXPECT_EQ(it.places(below), "src/b.txt:1");
    const auto blocks = it.office.ask<ListPage>(
        [&](auto reply) { it.office.kernel->list(FileOffice::as("ada"), {}, std::move(reply)); });
    EXPECT_TRUE(blocks->blocks.empty()) << "a search opens no file";
}

TEST(WorkspaceSearch, AnOpenedFileIsSearchedAsItsDocument) {
    SearchedOffice it;
    it.office.files.put("b", "one\n");
    it.office.files.put("a", "one\n");
    it.office.files.put("c", "one\n");
    ASSERT_EQ(it.office.edit("b", "one", "one needle"), "ok");

    const auto found = it.find(it.query("one"));

    EXPECT_EQ(it.places(*found), "a:0 b:0 c:0");
    EXPECT_EQ(found->blocks[1].block_id, it.office.read("b")->file.block_id);
    EXPECT_EQ(it.places(it.query("needle")), "b:0") << "it is not saved";
    it.office.files.put("b", "one\nfrom the disk\n");
    EXPECT_EQ(it.places(it.query("from the disk")), "b:1");
    it.restart();
    EXPECT_EQ(it.places(it.query("needle")), "b:0");
    it.office.files.put("b", "one\nonce more\n");
    EXPECT_EQ(it.places(it.query("once more")), "b:1");
}

TEST(WorkspaceSearch, WhatACallerMayNotSeeIsNeitherFoundNorCounted) {
    SearchedOffice it;
    it.office.files.put("sealed/a", "secret\n");
    it.office.files.put("b", "secret\n");
    it.office.files.put("c", "none\n");
    const Caller person{{policy::ActorKind::human, "kay"}, 0, {}};

    for (int time = 0; time < 2; ++time) {
        const auto found = it.find(it.query("secret"));
        EXPECT_EQ(it.places(*found), "b:0");
        EXPECT_EQ(found->searched.indexed + found->searched.scanned, 2U);
        EXPECT_EQ(it.places(*it.find(it.query("secret"), person)), "b:0 sealed/a:0");
    }
}

TEST(WorkspaceSearch, AHardLinkOfWhatIsSealedIsSealed) {
    SearchedOffice it;
    it.office.files.put("sealed/a", "secret\n");
    it.office.files.hard_link("sealed/a", "free/b");

    EXPECT_EQ(it.places(it.query("secret")), "");
}

TEST(WorkspaceSearch, IgnoredFilesLinksAndOtherFilesThanTextAreLeftOut) {
    SearchedOffice it;
    it.office.files.put(".gitignore", "build/\n");
    it.office.files.put("build/x", "needle\n");
    it.office.files.put("binary", std::string("needle\n\0", 8));
    it.office.files.put("latin", "needle caf\xE9\n");
    it.office.files.put("target", "needle\n");
    it.office.files.link("link", "target");
    it.office.files.put("large", "needle\n" + std::string(1 << 20, 'x'));

    for (int time = 0; time < 2; ++time) {
        const auto found = it.find(it.query("needle"));
        EXPECT_EQ(it.places(*found), "target:0");
        EXPECT_EQ(found->searched.left, 1U) << "the file that is too large";
    }
}

TEST(WorkspaceSearch, TheIndexRulesOutWhatItKnows) {
    SearchedOffice it;
    for (int i = 0; i < 20; ++i) it.office.files.put(cat("f", i), cat("text number ", i, "\n"));

    EXPECT_EQ(it.counts(it.query("needle")), "0/20/0");
    EXPECT_EQ(it.counts(it.query("needle")), "20/0/0");
    it.office.files.put("f7", "needle\n");
    EXPECT_EQ(it.counts(it.query("needle")), "19/1/0");
    EXPECT_EQ(it.places(it.query("needle")), "f7:0");
    it.office.files.erase("f7");
    EXPECT_EQ(it.counts(it.query("needle")), "19/0/0");
    it.restart();
    EXPECT_EQ(it.counts(it.query("needle")), "19/0/0") << "the file has kept it";
}

TEST(WorkspaceSearch, AStartIndexesWhatIsThere) {
    SearchedOffice it;
    it.office.files.put("a", "needle\n");
    it.office.files.put("b", "text\n");
    it.close();
    it.open();

    EXPECT_EQ(it.counts(it.query("needle")), "1/1/0");
}

TEST(WorkspaceSearch, AFileWithAnEncodingByRuleIsReadEachTime) {
    SearchedOffice it;
    it.office.files.put("latin", "caf\xE9\n");
    EXPECT_EQ(it.counts(it.query("café")), "0/0/0");

    it.office.declare("latin", text::Charset::windows_1252);

    EXPECT_EQ(it.places(it.query("café")), "latin:0");
    it.office.declare("latin", std::nullopt);
    EXPECT_EQ(it.places(it.query("café")), "");
}

TEST(WorkspaceSearch, ItEndsWhenThereIsEnough) {
    SearchedOffice it;
    it.office.files.put("sealed/z", "needle\n");  // Not counted among what is left.
    for (int i = 0; i < 10; ++i) it.office.files.put(cat("f", i), "needle\n");
    SearchAll three = it.query("needle");
    three.max_blocks = 3;

    const auto found = it.find(three);

    EXPECT_EQ(it.places(*found), "f0:0 f1:0 f2:0");
    EXPECT_TRUE(found->truncated);
    EXPECT_EQ(it.counts(*found), "0/4/6");
    three.max_blocks = 10;
    EXPECT_FALSE(it.find(three)->truncated);
}

TEST(WorkspaceSearch, ConversationsAreSearchedByKind) {
    SearchedOffice it;
    const std::string text = it.create("one", "a needle\n");
    const std::string thought = it.create("two", "needle\n", conversation::Kind::thinking);
    SearchAll what = it.query("needle");

    EXPECT_EQ(it.places(what), "") << "files only, unless said otherwise";
    what.kinds = {search_kind(conversation::Kind::text)};
    EXPECT_EQ(it.places(what), cat(text, ":0"));
    what.kinds.push_back(search_kind(conversation::Kind::thinking));
    EXPECT_EQ(it.places(what), cat(text, ":0 ", thought, ":0"));
}

TEST(WorkspaceSearch, AConversationThatIsNotInMemoryIsRuledOutUnread) {
    SearchedOffice it;
    std::vector<std::string> ids;
    for (int i = 0; i < 20; ++i) ids.push_back(it.create(cat("c", i), cat("text number ", i)));
    SearchAll what = it.query("number 7");
    what.kinds = {search_kind(conversation::Kind::text)};
    const SearchAll none = [&] {
        SearchAll all = it.query("needle");
        all.kinds = what.kinds;
        return all;
    }();
    it.restart();

    EXPECT_EQ(it.counts(none), "0/20/0");
    it.restart();
    const std::size_t loads = it.office.store.loads();
    EXPECT_EQ(it.counts(none), "20/0/0");
    EXPECT_EQ(it.office.store.loads(), loads);
    EXPECT_EQ(it.places(what), cat(ids[7], ":0"));
    ASSERT_TRUE(it.office.ask<Edited>([&](auto reply) {
        it.office.kernel->edit(
            FileOffice::as("ada"), ids[3], "edit",
            [](const seq::Rope&, std::uint64_t) -> Result<edits::Planned> {
                return edits::Planned{{{{0}, {0}, "needle "}}, {}};
            },
            std::move(reply));
    }));
    it.restart();
    EXPECT_EQ(it.places(none), cat(ids[3], ":0"));
}

TEST(WorkspaceSearch, AKernelThatEndsRefusesSearches) {
    SearchedOffice it;
    it.office.files.put("a", "needle\n");
    std::optional<Result<FoundAll>> before;
    std::optional<Result<FoundAll>> after;
    bool has_ended = false;
    it.search->search(FileOffice::as("ada"), it.query("needle"),
                      [&](Result<FoundAll> found) { before = std::move(found); });
    it.search->stop([&](const Result<void>&) { has_ended = true; });
    it.search->search(FileOffice::as("ada"), it.query("needle"),
                      [&](Result<FoundAll> found) { after = std::move(found); });
    it.office.scheduler.run_all();

    ASSERT_TRUE(before && after && has_ended);
    EXPECT_TRUE(*before || before->error().reason() == "kernel_ending");
    ASSERT_FALSE(*after);
    EXPECT_EQ(after->error().reason(), "kernel_ending");
}

// Changes of every kind, by the kernel and on the disk, with restarts between them; after each a search
// that has an index and one that has none find the same.
TEST(WorkspaceSearch, AnIndexNeverHidesAnything) {
    SearchedOffice it;
    SeededRng rng(17);
    std::vector<std::string> ids;
    const auto word = [&] { return cat("word", rng.next() % 40, " "); };
    std::size_t ruled_out = 0;
    for (int round = 0; round < 1200 / kRoundsShare; ++round) {
        const std::string path = cat("d", rng.next() % 3, "/f", rng.next() % 8);
        std::string text;
        for (std::size_t i = rng.next() % 12; i > 0; --i) text += word() + "\n";
        switch (rng.next() % 8) {
            case 0:
            case 1:
            case 2:
                it.office.files.put(path, text);
                break;
            case 3:
                it.office.files.erase(path);
                break;
            case 4:
                it.office.append(path, text);
                break;
            case 5:
                static_cast<void>(it.office.save(path));
                break;
            case 6:
                ids.push_back(it.create(cat("c", rng.next() % 6), text));
                break;
            default:
                if (rng.next() % 4 == 0) it.restart();
                break;
        }
        SearchAll what = it.query(rng.next() % 3 == 0 ? cat("word", rng.next() % 40, " *\\w+1?|nothing")
                                                      : word(),
                                  text::Match::regex);
        what.kinds.push_back(search_kind(conversation::Kind::text));
        what.max_blocks = 1000;
        const auto with = it.find(what);
        ASSERT_TRUE(with);
        ruled_out += with->searched.indexed;
        WorkspaceSearch other(
            {*it.office.kernel, it.office.gate.get(), nullptr, it.office.scheduler, ""});
        const auto without = it.office.ask<FoundAll>([&](auto reply) {
            other.search(FileOffice::as("ada"), what, std::move(reply));
        });
        ASSERT_EQ(it.places(*with), it.places(*without)) << round;
    }
    EXPECT_GT(ruled_out, 1000U / kRoundsShare);
}

}  // namespace
}  // namespace quire::kernel

#include "kernel/files/file_calls.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "fs/memory_files_for_test.h"
#include "kernel/core/desk_test.h"
#include "kernel/oversight/overseer.h"
#include "sched/manual_for_test.h"

namespace quire::kernel {
namespace {

// $SEED repeats a run.
unsigned seed_of_run() {
    const char* given = std::getenv("SEED");
    return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                            : std::random_device{}();
}

policy::PathRule rule(std::string_view pattern, policy::Permission permission,
                      policy::Operations escalated = {}) {
    return {text::Glob::compile(pattern).value(), permission, escalated, 0};
}

// A kernel with files in memory, where another program can change them.
class FileOffice {
public:
    FileOffice() { start(); }
    FileOffice(const FileOffice&) = delete;
    FileOffice& operator=(const FileOffice&) = delete;
    ~FileOffice() { stop(); }
    void restart() {
        stop();
        start();
    }

    template <class T, class Call>
    Result<T> ask(Call call) {
        std::optional<Result<T>> answer;
        call(Reply<T>([&answer](Result<T> result) { answer = std::move(result); }));
        scheduler.run_all();
        CHECK(answer.has_value());
        return std::move(*answer);
    }
    static Caller as(const std::string& name) {
        return {{policy::ActorKind::agent, name}, 0, {}, std::make_shared<const Call>()};
    }

    Result<FileRead> read(const std::string& path) {
        return ask<FileRead>(
            [&](auto reply) { calls->read(as("reader"), path, {}, std::move(reply)); });
    }
    std::string text(const std::string& path) {
        const auto file = read(path);
        if (!file) return cat("<", file.error().reason(), ">");
        std::string all;
        for (const std::string& line : file->text.lines) all += line;
        return all;
    }
    // Replaces the one occurrence of `find`.
    std::string edit(const std::string& path, const std::string& find, const std::string& replace,
                     const std::string& by = "ada") {
        const auto plan = [=](const seq::Rope& rope, std::uint64_t) -> Result<edits::Planned> {
            const std::size_t at = rope.str().find(find);
            if (at == std::string::npos) return fail(Errc::not_found, "no_match", "no match");
            return edits::Planned{{{{at}, {find.size()}, replace}}, {}};
        };
        const auto result = ask<FileEdited>(
            [&](auto reply) { calls->edit(as(by), path, "replace", plan, std::move(reply)); });
        return result ? "ok" : result.error().reason();
    }
    std::string append(const std::string& path, const std::string& text) {
        return reason(ask<FileAppended>(
            [&](auto reply) { calls->append(as("ada"), path, text, std::move(reply)); }));
    }
    Result<FileVersion> create(const std::string& path, const std::string& content) {
        return ask<FileVersion>(
            [&](auto reply) { calls->create(as("ada"), path, content, std::move(reply)); });
    }
    Result<FileSaved> save(const std::string& path, const std::string& by = "ada") {
        return ask<FileSaved>([&](auto reply) { calls->save(as(by), path, std::move(reply)); });
    }
    Result<FileVersion> erase(const std::string& path) {
        return ask<FileVersion>(
            [&](auto reply) { calls->erase(as("ada"), path, std::move(reply)); });
    }
    FileStatus status(const std::string& path) {
        return ask<std::vector<FileStatus>>(
                   [&](auto reply) { calls->status(as("ada"), path, std::move(reply)); })
            ->at(0);
    }
    std::string disk(const std::string& path) {
        const auto file = files.read(path, 1 << 24);
        return file ? file->bytes : cat("<", file.error().reason(), ">");
    }
    template <class T>
    static std::string reason(const Result<T>& result) {
        return result ? "ok" : result.error().reason();
    }

    fs::MemoryFiles files;
    TableStore store;
    sched::ManualScheduler scheduler;
    ManualClock clock;
    SeededRng rng{11};
    std::unique_ptr<FileGate> gate;
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<FileCalls> calls;

private:
    void start() {
        policy::PathRules rules(
            {rule("locked/**", policy::Permission::read_only),
             rule("ask/**", policy::Permission::human), rule("log/**", policy::Permission::append),
             rule("kept/**", policy::Permission::read_write, {policy::Operation::erase}),
             rule("sealed/**", policy::Permission::read_write, {policy::Operation::read}),
             rule("fixed/**", policy::Permission::read_write, {policy::Operation::create}),
             rule("free/**", policy::Permission::admin),
             rule("*", policy::Permission::read_write)});
        gate = std::make_unique<FileGate>(files, std::move(rules), clock, std::size_t{1} << 20);
        kernel = std::move(*open_kernel({store, scheduler, clock, rng, {}, gate.get()}));
        calls = std::make_unique<FileCalls>(*kernel, *gate);
    }
    void stop() {
        calls.reset();
        kernel->close([](Result<void>) {});
        scheduler.run_all();
        kernel.reset();
    }
};

TEST(FileCalls, AFileIsOneBlockForEveryoneWhoOpensIt) {
    FileOffice office;
    office.files.put("a.txt", "one\ntwo\n");

    const auto first = office.read("a.txt");
    const auto second = office.read("./a.txt");

    ASSERT_TRUE(first) << first.error().message();
    EXPECT_EQ(first->file.path, "a.txt");
    EXPECT_EQ(second->file.block_id, first->file.block_id);
    EXPECT_EQ(second->file.version, 1U);
    EXPECT_EQ(first->text.info.kind, "file");
    EXPECT_EQ(office.text("a.txt"), "one\ntwo\n");
}

TEST(FileCalls, LoadThenSaveIsTheIdentityOnBytes) {
    FileOffice office;
    for (const std::string bytes : {"", "a", "a\n", "a\r\nb\r\n", "a\r\nb\nc\rd", "\xEF\xBB\xBF",
                                    "\xEF\xBB\xBF"
                                    "a\r\n",
                                    "\xEF\xBB\xBF\xEF\xBB\xBF"
                                    "a",
                                    "é\xE2\x80\xA8x"}) {
        office.files.put("f", bytes);
        ASSERT_EQ(FileOffice::reason(office.read("f")), "ok");
        const auto saved = office.save("f");
        ASSERT_TRUE(saved) << saved.error().message();
        EXPECT_FALSE(saved->written);
        EXPECT_EQ(office.disk("f"), bytes);
    }
}

TEST(FileCalls, AnEditStaysInTheDocumentUntilItIsSavedAndKeepsTheRestAsItWas) {
    FileOffice office;
    office.files.put("f",
                     "\xEF\xBB\xBF"
                     "one\r\ntwo\r\nthree");

    EXPECT_EQ(office.edit("f", "two", "TWO"), "ok");
    EXPECT_EQ(office.disk("f"),
              "\xEF\xBB\xBF"
              "one\r\ntwo\r\nthree");
    EXPECT_TRUE(office.status("f").dirty);

    EXPECT_TRUE(office.save("f")->written);
    EXPECT_EQ(office.disk("f"),
              "\xEF\xBB\xBF"
              "one\r\nTWO\r\nthree");
    EXPECT_FALSE(office.status("f").dirty);
    EXPECT_EQ(office.status("f").disk, Disk::same);
}

TEST(FileCalls, ADiskChangeIsTakenInWhenTheFileIsNextUsed) {
    FileOffice office;
    office.files.put("f", "one\ntwo\n");
    EXPECT_EQ(office.text("f"), "one\ntwo\n");

    office.files.put("f", "one\n2\n");
    EXPECT_EQ(office.status("f").disk, Disk::changed);

    EXPECT_EQ(office.text("f"), "one\n2\n");
    EXPECT_EQ(office.status("f").disk, Disk::same);
    EXPECT_EQ(office.read("f")->file.version, 2U);
    EXPECT_FALSE(office.status("f").dirty);
}

TEST(FileCalls, EditsThatWereNeverSavedSurviveDiskChanges) {
    FileOffice office;
    office.files.put("f", "a\nb\nc\nd\ne\n");
    EXPECT_EQ(office.edit("f", "b", "agent b"), "ok");

    office.files.put("f", "a\nb\nc\ndisk d\ne\n");
    EXPECT_EQ(office.text("f"), "a\nagent b\nc\ndisk d\ne\n");
    // A second change from the disk's own side, with the agent's line still unsaved.
    office.files.put("f", "disk a\nb\nc\ndisk d\ne\n");
    EXPECT_EQ(office.text("f"), "disk a\nagent b\nc\ndisk d\ne\n");

    EXPECT_TRUE(office.save("f")->written);
    EXPECT_EQ(office.disk("f"), "disk a\nagent b\nc\ndisk d\ne\n");
}

TEST(FileCalls, BothSidesAddingAtOneSpotBothStand) {
    FileOffice office;
    office.files.put("f", "a\n");
    EXPECT_EQ(office.append("f", "agent\n"), "ok");

    office.files.put("f", "a\ndisk\n");

    const std::string text = office.text("f");
    EXPECT_TRUE(text == "a\nagent\ndisk\n" || text == "a\ndisk\nagent\n") << text;
}

TEST(FileCalls, AnEqualChangeOnBothSidesIsThereOnce) {
    FileOffice office;
    office.files.put("f", "a\nz\n");
    EXPECT_EQ(office.edit("f", "a\n", "import os\na\n"), "ok");
    EXPECT_EQ(office.edit("f", "z", "zz"), "ok");

    office.files.put("f", "import os\na\nz\n");

    EXPECT_EQ(office.text("f"), "import os\na\nzz\n");
}

TEST(FileCalls, IfBothChangedTheSameWordsTheAgentsTextShowsAndTheSaveAsksFirst) {
    FileOffice office;
    office.files.put("f", "timeout = 10\n");
    EXPECT_EQ(office.edit("f", "10", "30"), "ok");
    office.files.put("f", "timeout = 45\n");

    const auto first = office.save("f");
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().reason(), "disk_changed");
    EXPECT_EQ(office.disk("f"), "timeout = 45\n");
    EXPECT_EQ(office.text("f"), "timeout = 30\n");

    EXPECT_TRUE(office.save("f"));
    EXPECT_EQ(office.disk("f"), "timeout = 30\n");
}

TEST(FileCalls, UndoingAnAgentsEditLeavesTheDisksChange) {
    FileOffice office;
    office.files.put("f", "a\nb\nc\nd\n");
    EXPECT_EQ(office.edit("f", "b", "agent b"), "ok");
    office.files.put("f", "a\nb\nc\ndisk d\n");
    const std::string id = office.read("f")->file.block_id;

    const auto undone = office.ask<Undone>([&](auto reply) {
        office.kernel->undo(FileOffice::as("ada"), id, UndoScope::own, false, std::move(reply));
    });

    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(office.text("f"), "a\nb\nc\ndisk d\n");
}

TEST(FileCalls, AChangeOnTheDiskIsNamedInHistory) {
    FileOffice office;
    office.files.put("f", "a\n");
    EXPECT_EQ(office.edit("f", "a", "b"), "ok");
    const std::string id = office.read("f")->file.block_id;

    const auto history = office.ask<HistoryPage>([&](auto reply) {
        office.kernel->history(FileOffice::as("ada"), id, 10, "", std::move(reply));
    });

    ASSERT_EQ(history->versions.size(), 2U);
    EXPECT_EQ(history->versions[0].actor, "agent:ada");
    EXPECT_EQ(history->versions[1].actor, "source:disk");
}

TEST(FileCalls, ABlockCallOnAFileTakesTheDiskInAndAsksTheRules) {
    FileOffice office;
    office.files.put("locked/f", "one\n");
    const std::string id = office.read("locked/f")->file.block_id;
    office.files.put("locked/f", "two\n");

    const auto text = office.ask<WholeText>(
        [&](auto reply) { office.kernel->text(FileOffice::as("ada"), id, std::move(reply)); });
    EXPECT_EQ(text->text, "two\n");
    const auto appended = office.ask<Appended>([&](auto reply) {
        office.kernel->append(FileOffice::as("ada"), id, "x", Ack::durable, std::move(reply));
    });
    EXPECT_EQ(FileOffice::reason(appended), "permission_denied");
}

TEST(FileCalls, TheRulesDecideByPath) {
    FileOffice office;
    for (const char* path : {"locked/f", "ask/f", "log/f", "kept/f", "free/f", ".git/f"})
        office.files.put(path, "old\n");

    EXPECT_EQ(office.edit("locked/f", "old", "new"), "permission_denied");
    EXPECT_EQ(office.edit("ask/f", "old", "new"), "escalation_required");
    EXPECT_EQ(office.edit("log/f", "old", "new"), "permission_denied");
    EXPECT_EQ(office.edit("kept/f", "old", "new"), "ok");
    EXPECT_EQ(office.edit("free/f", "old", "new"), "ok");
    EXPECT_EQ(office.edit(".git/f", "old", "new"), "permission_denied");
    EXPECT_EQ(office.append("log/f", "more\n"), "ok");
    EXPECT_EQ(FileOffice::reason(office.create("locked/new", "")), "permission_denied");
    EXPECT_EQ(FileOffice::reason(office.create("log/new", "x")), "ok");
    EXPECT_EQ(FileOffice::reason(office.create("quire.toml", "x")), "permission_denied");
    EXPECT_EQ(FileOffice::reason(office.read(".quire/quire.db")), "permission_denied");
    EXPECT_EQ(FileOffice::reason(office.erase("kept/f")), "escalation_required");
    EXPECT_EQ(FileOffice::reason(office.erase("log/f")), "permission_denied");
    EXPECT_EQ(FileOffice::reason(office.erase("free/f")), "ok");
    EXPECT_EQ(office.disk("free/f"), "<file_not_found>");

    const auto refused = office.erase("kept/f");
    EXPECT_EQ(refused.error().code(), Errc::escalation_required);
    EXPECT_TRUE(refused.error().details().contains("approval_id"));
}

TEST(FileCalls, AnAppendOnlyActorMaySaveTextThatStartsWithTheDisks) {
    FileOffice office;
    office.files.put("log/f", "old\n");
    EXPECT_EQ(office.append("log/f", "more\n"), "ok");

    EXPECT_TRUE(office.save("log/f")->written);
    EXPECT_EQ(office.disk("log/f"), "old\nmore\n");
}

TEST(FileCalls, ALinkIsAsStrictAsItsTargetAndSavingWritesTheTarget) {
    FileOffice office;
    office.files.put("locked/f", "old\n");
    office.files.put("real.txt", "old\n");
    office.files.link("open", "locked/f");
    office.files.link("alias", "real.txt");
    office.files.link("locked/alias", "../real.txt");

    EXPECT_EQ(office.edit("open", "old", "new"), "permission_denied");
    EXPECT_EQ(office.edit("locked/alias", "old", "new"), "permission_denied");
    EXPECT_EQ(office.edit("alias", "old", "new"), "ok");
    EXPECT_EQ(office.save("alias")->file.path, "real.txt");
    EXPECT_EQ(office.disk("real.txt"), "new\n");
    EXPECT_EQ(FileOffice::reason(office.erase("alias")), "is_a_link");
}

TEST(FileCalls, CreateWritesTheFileAndReplacesNothing) {
    FileOffice office;
    office.files.put("there", "x");

    const auto created = office.create("new/deep/f", "hello\n");

    ASSERT_TRUE(created) << created.error().message();
    EXPECT_EQ(created->version, 1U);
    EXPECT_EQ(office.disk("new/deep/f"), "hello\n");
    EXPECT_EQ(office.text("new/deep/f"), "hello\n");
    EXPECT_FALSE(office.status("new/deep/f").dirty);
    EXPECT_EQ(FileOffice::reason(office.create("there", "y")), "file_exists");
    EXPECT_EQ(FileOffice::reason(office.create("new/deep", "y")), "file_exists");
    EXPECT_EQ(FileOffice::reason(office.create("../out", "y")), "outside_workspace");
    EXPECT_EQ(FileOffice::reason(office.create("nul", std::string("\0", 1))), "binary_file");
}

TEST(FileCalls, AFileThatIsNotTextIsRefusedAndMakesNoBlock) {
    FileOffice office;
    office.files.put("bin", std::string("a\0b", 3));
    office.files.put("latin", "caf\xE9");
    office.files.put("big", std::string((1 << 20) + 1, 'x'));
    office.files.put("d/x", "");

    EXPECT_EQ(office.text("bin"), "<binary_file>");
    EXPECT_EQ(office.text("latin"), "<binary_file>");
    EXPECT_EQ(office.text("big"), "<too_large>");
    EXPECT_EQ(office.text("d"), "<not_a_file>");
    EXPECT_EQ(office.text("none"), "<file_not_found>");
    EXPECT_EQ(office.text("/etc/passwd"), "<outside_workspace>");
    const auto blocks = office.ask<ListPage>(
        [&](auto reply) { office.kernel->list(FileOffice::as("ada"), {}, std::move(reply)); });
    EXPECT_TRUE(blocks->blocks.empty());

    office.files.put("bin", "now text\n");
    EXPECT_EQ(office.text("bin"), "now text\n");
}

TEST(FileCalls, AFileThatTurnsBinaryKeepsItsTextAndBreaksNoList) {
    FileOffice office;
    office.files.put("f", "text\n");
    EXPECT_EQ(office.text("f"), "text\n");
    office.files.put("f", std::string("\0", 1));

    EXPECT_EQ(office.text("f"), "<binary_file>");
    EXPECT_EQ(office.edit("f", "text", "more"), "binary_file");
    const auto blocks = office.ask<ListPage>(
        [&](auto reply) { office.kernel->list(FileOffice::as("ada"), {}, std::move(reply)); });
    ASSERT_TRUE(blocks) << blocks.error().message();
    EXPECT_EQ(blocks->blocks.size(), 1U);
}

TEST(FileCalls, ANulThatCouldNotBeSavedIsNotWritten) {
    FileOffice office;
    office.files.put("f", "text\n");
    const std::string nul("a\0b\n", 4);
    EXPECT_EQ(office.append("f", nul), "binary_file");
    EXPECT_EQ(office.edit("f", "text", nul), "binary_file");
    EXPECT_EQ(FileOffice::reason(office.create("g", nul)), "binary_file");
    EXPECT_EQ(office.text("f"), "text\n");
}

TEST(FileCalls, AnUnrecordedDeletionSaysThatTheFileIsGoneFromTheDisk) {
    FileOffice office;
    office.files.put("f", "text\n");
    ASSERT_EQ(FileOffice::reason(office.read("f")), "ok");
    office.store.fail_next();
    const auto gone = office.erase("f");
    EXPECT_EQ(FileOffice::reason(gone), "disk_full");
    EXPECT_NE(gone.error().message().find("f is gone from the disk"), std::string::npos);
    EXPECT_EQ(office.disk("f"), "<file_not_found>");
}

TEST(FileCalls, AFileDeletedOnDiskIsGoneUnlessItHasEditsThatWereNotSaved) {
    FileOffice office;
    office.files.put("clean", "a\n");
    office.files.put("edited", "a\n");
    EXPECT_EQ(office.text("clean"), "a\n");
    EXPECT_EQ(office.edit("edited", "a", "b"), "ok");
    office.files.erase("clean");
    office.files.erase("edited");

    EXPECT_EQ(office.text("clean"), "<file_not_found>");
    EXPECT_EQ(office.status("clean").disk, Disk::missing);
    EXPECT_FALSE(office.status("clean").dirty);
    EXPECT_TRUE(office.status("edited").dirty);
    EXPECT_EQ(FileOffice::reason(office.save("edited")), "disk_changed");
    EXPECT_EQ(office.disk("edited"), "<file_not_found>");
    EXPECT_EQ(office.text("edited"), "b\n");
    EXPECT_EQ(office.status("edited").disk, Disk::missing);
    EXPECT_TRUE(office.save("edited")->written);
    EXPECT_EQ(office.disk("edited"), "b\n");
}

TEST(FileCalls, TheNextSaveReportsAFileThatVanishedWhoeverSawItFirst) {
    FileOffice office;
    office.files.put("f.txt", "one\n");
    ASSERT_EQ(office.edit("f.txt", "one", "1"), "ok");
    office.files.erase("f.txt");
    EXPECT_EQ(office.append("f.txt", "two\n"), "ok");
    office.restart();

    EXPECT_EQ(FileOffice::reason(office.save("f.txt")), "disk_changed");
    EXPECT_EQ(office.disk("f.txt"), "<file_not_found>");
    EXPECT_EQ(FileOffice::reason(office.save("f.txt")), "ok");
    EXPECT_EQ(office.disk("f.txt"), "1\ntwo\n");
}

TEST(FileCalls, SavingAFileThatIsGoneCreatesIt) {
    FileOffice office;
    office.files.put("fixed/f", "one\n");
    ASSERT_EQ(office.edit("fixed/f", "one", "1"), "ok");
    office.files.erase("fixed/f");
    EXPECT_EQ(FileOffice::reason(office.save("fixed/f")), "disk_changed");

    EXPECT_EQ(FileOffice::reason(office.save("fixed/f")), "escalation_required");

    EXPECT_EQ(office.disk("fixed/f"), "<file_not_found>");
}

TEST(FileCalls, AFileThatACallerMayNotSeeHidesNoOther) {
    FileOffice office;
    office.files.put("a.txt", "secret\n");
    office.files.put("sealed/b", "secret\n");
    office.files.put("z.txt", "secret\n");
    const Caller person{{policy::ActorKind::human, "kay"}, 0, {}};
    for (const char* path : {"sealed/b", "a.txt", "z.txt"}) {
        ASSERT_TRUE(office.ask<FileRead>(
            [&](auto reply) { office.calls->read(person, path, {}, std::move(reply)); }));
    }

    const auto listed = [&](const Caller& by) {
        std::string paths;
        const auto page = office.ask<ListPage>(
            [&](auto reply) { office.kernel->list(by, {}, std::move(reply)); });
        if (!page) return page.error().reason();
        for (const BlockInfo& block : page->blocks) paths += block.path + " ";
        return paths;
    };
    EXPECT_EQ(listed(person), "sealed/b a.txt z.txt ");
    EXPECT_EQ(listed(FileOffice::as("ada")), "a.txt z.txt ");
    const SearchQuery query{text::Query::compile("secret", text::Match::literal).value()};
    const auto found = office.ask<FoundAll>([&](auto reply) {
        office.kernel->search_all(FileOffice::as("ada"), {.search = query, .path_prefix = {}},
                                  std::move(reply));
    });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->searched, 2U);
    const auto all = office.ask<std::vector<FileStatus>>(
        [&](auto reply) { office.calls->status(FileOffice::as("ada"), {}, std::move(reply)); });
    ASSERT_TRUE(all);
    EXPECT_EQ(all->size(), 2U);
}

TEST(FileCalls, ADeletedFilesBlockIsGoneAndItsNameIsFree) {
    FileOffice office;
    office.files.put("free/f", "old\n");
    const std::string before = office.read("free/f")->file.block_id;

    EXPECT_EQ(FileOffice::reason(office.erase("free/f")), "ok");

    const auto by_id = office.ask<WholeText>(
        [&](auto reply) { office.kernel->text(FileOffice::as("ada"), before, std::move(reply)); });
    EXPECT_EQ(FileOffice::reason(by_id), "invalid_reference");
    const auto created = office.create("free/f", "new\n");
    EXPECT_NE(created->block_id, before);
    office.restart();
    EXPECT_EQ(office.text("free/f"), "new\n");
    EXPECT_EQ(office.read("free/f")->file.block_id, created->block_id);
}

TEST(FileCalls, AFileCreatedDuringItsDeletionIsANewDocument) {
    FileOffice office;
    ASSERT_TRUE(office.create("free/a", "old\n"));
    office.store.hold(true);
    const auto start = [&](auto call) {
        auto answer = std::make_shared<std::optional<Result<FileVersion>>>();
        call(Reply<FileVersion>([answer](Result<FileVersion> made) { *answer = std::move(made); }));
        office.scheduler.run_all();
        return answer;
    };
    const auto erased = start([&](auto reply) {
        office.calls->erase(FileOffice::as("ada"), "free/a", std::move(reply));
    });
    const auto made = start([&](auto reply) {
        office.calls->create(FileOffice::as("bo"), "free/a", "new\n", std::move(reply));
    });
    while (!made->has_value() && office.store.queued() > 0) {
        office.store.flush();
        office.scheduler.run_all();
    }
    office.store.hold(false);

    ASSERT_TRUE(erased->has_value() && **erased);
    ASSERT_TRUE(made->has_value() && **made);
    EXPECT_NE((**made)->block_id, (**erased)->block_id);
    EXPECT_EQ(office.read("free/a")->file.block_id, (**made)->block_id);
    EXPECT_EQ(office.text("free/a"), "new\n");
}

TEST(FileCalls, ADeletionThatTheStoreRefusedLeavesTheNameToItsFile) {
    FileOffice office;
    const auto made = office.create("free/a", "old\n");
    ASSERT_TRUE(made);
    office.store.fail_next();
    ASSERT_FALSE(office.erase("free/a"));

    ASSERT_TRUE(office.create("free/a", "new\n"));

    EXPECT_EQ(office.read("free/a")->file.block_id, made->block_id);
    EXPECT_EQ(office.text("free/a"), "new\n");
}

TEST(FileCalls, ACreationThatTheStoreRefusedLeavesNoFile) {
    FileOffice office;
    office.store.fail_next();
    EXPECT_EQ(FileOffice::reason(office.create("free/a", "text\n")), "disk_full");
    EXPECT_EQ(office.disk("free/a"), "<file_not_found>");
    EXPECT_EQ(FileOffice::reason(office.create("free/a", "text\n")), "ok");
}

TEST(FileCalls, DeletingAFileThatChangedSinceItWasReadIsRefused) {
    FileOffice office;
    office.files.put("free/f", "old\n");
    EXPECT_EQ(office.text("free/f"), "old\n");
    office.files.put("free/f", "theirs\n");

    EXPECT_EQ(FileOffice::reason(office.erase("free/f")), "disk_changed");
    EXPECT_EQ(office.disk("free/f"), "theirs\n");
    EXPECT_EQ(FileOffice::reason(office.erase("free/f")), "ok");
}

TEST(FileCalls, EverythingIsThereAfterARestart) {
    FileOffice office;
    office.files.put("f", "a\nb\nc\n");
    EXPECT_EQ(office.edit("f", "b", "agent b"), "ok");
    const FileVersion before = office.read("f")->file;
    office.restart();
    EXPECT_TRUE(office.status("f").dirty);

    office.files.put("f", "a\nb\ndisk c\n");

    EXPECT_EQ(office.text("f"), "a\nagent b\ndisk c\n");
    EXPECT_EQ(office.read("f")->file.block_id, before.block_id);
    EXPECT_EQ(office.read("f")->file.version, before.version + 1);
}

TEST(FileCalls, AChangeThatTheStoreRefusedIsReadFromTheDiskAgain) {
    FileOffice office;
    office.files.put("f", "a\nb\n");
    EXPECT_EQ(office.text("f"), "a\nb\n");
    office.files.put("f", "a\ndisk b\n");
    office.store.fail_next();

    EXPECT_EQ(office.text("f"), "a\ndisk b\n");
    EXPECT_EQ(office.edit("f", "disk b", "agent b"), "ok");
    office.restart();
    EXPECT_EQ(office.text("f"), "a\nagent b\n");
}

TEST(FileCalls, AnOverlapThatAReadTookInRefusesEachActorsNextSaveOnce) {
    FileOffice office;
    office.files.put("f", "a\nhello\nb\n");
    EXPECT_EQ(office.edit("f", "hello", "agent"), "ok");
    office.files.put("f", "a\nperson\nb\n");

    EXPECT_EQ(office.text("f"), "a\nagent\nb\n");
    EXPECT_TRUE(office.status("f").conflict);
    EXPECT_EQ(FileOffice::reason(office.save("f")), "disk_changed");
    EXPECT_EQ(office.disk("f"), "a\nperson\nb\n");
    EXPECT_EQ(FileOffice::reason(office.save("f", "bo")), "disk_changed");
    EXPECT_TRUE(office.status("f").conflict);
    EXPECT_EQ(FileOffice::reason(office.save("f")), "ok");
    EXPECT_EQ(office.disk("f"), "a\nagent\nb\n");
    EXPECT_FALSE(office.status("f").conflict);
}

TEST(FileCalls, TheFirstContentOfAFileCannotBeUndone) {
    FileOffice office;
    office.files.put("f", "a\n");
    const std::string id = office.read("f")->file.block_id;

    const auto undone = office.ask<Undone>([&](auto reply) {
        office.kernel->undo(FileOffice::as("ada"), id, UndoScope::any, false, std::move(reply));
    });

    EXPECT_EQ(FileOffice::reason(undone), "nothing_to_undo");
    EXPECT_EQ(office.text("f"), "a\n");
}

TEST(FileCalls, AFileWithUnsavedEditsOfOthersIsNotDeleted) {
    FileOffice office;
    office.files.put("f", "a\nb\n");
    EXPECT_EQ(office.edit("f", "b", "bo's b", "bo"), "ok");

    const Result<FileVersion> refused = office.erase("f");
    ASSERT_EQ(FileOffice::reason(refused), "unsaved_edits");
    EXPECT_EQ(refused.error().details().find("actors")->as_string(), "agent:bo");
    EXPECT_EQ(office.text("f"), "a\nbo's b\n");

    EXPECT_EQ(FileOffice::reason(office.save("f")), "ok");
    EXPECT_EQ(office.edit("f", "a", "ada's a", "ada"), "ok");
    const std::string id = office.read("f")->file.block_id;
    EXPECT_EQ(FileOffice::reason(office.erase("f")), "ok");
    const auto undone = office.ask<Undone>([&](auto reply) {
        office.kernel->undo(FileOffice::as("ada"), id, UndoScope::own, false, std::move(reply));
    });
    EXPECT_EQ(FileOffice::reason(undone), "invalid_reference");
}

TEST(FileCalls, TheListShowsWhatEachFileAllows) {
    FileOffice office;
    office.files.put("locked/f", "1");
    office.files.put("free/f", "12");
    office.files.put("free/g.md", "");
    const std::string id = office.read("free/f")->file.block_id;

    const auto list = [&](std::optional<std::string> pattern, std::size_t limit) {
        std::optional<text::Glob> glob;
        if (pattern) glob = text::Glob::compile(*pattern).value();
        std::string out;
        const auto found = office.ask<FileList>([&](auto reply) {
            office.calls->list(FileOffice::as("ada"), glob, limit, std::move(reply));
        });
        for (const FileEntry& file : found->files) {
            out += cat(file.path, ":", file.size, ":", name_of(file.permission), ":", file.block_id,
                       " ");
        }
        return out + (found->truncated ? "..." : "");
    };
    EXPECT_EQ(list({}, 10),
              cat("free/f:2:admin:", id, " free/g.md:0:admin: locked/f:1:read_only: "));
    EXPECT_EQ(list("*.md", 10), "free/g.md:0:admin: ");
    EXPECT_EQ(list("**", 1), cat("free/f:2:admin:", id, " ..."));
}

// Agents and the disk edit one file in turns, at random, each on lines of its own; whatever the
// order of loads and saves, at the end both the document and the disk have the last word of each.
TEST(FileCalls, NoTextIsLostHoweverEditsAndDiskChangesAlternate) {
    const unsigned seed = seed_of_run();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    for (int round = 0; round < 30; ++round) {
        FileOffice office;
        std::vector<std::string> lines;
        for (int i = 0; i < 9; ++i) lines.push_back(cat("line", i, " 0"));
        const auto joined = [](const std::vector<std::string>& all) {
            std::string out;
            for (const std::string& line : all) out += line + "\n";
            return out;
        };
        office.files.put("f", joined(lines));
        std::vector<std::string> expected = lines;
        for (int step = 1; step <= 25; ++step) {
            const auto what = rng() % 5;
            const std::size_t line =
                2 * (rng() % 5);  // Every other line, so that no two owners touch.
            const std::string old = expected[line];
            const std::string fresh = cat("line", line, " ", step);
            if (what == 0) {
                ASSERT_EQ(FileOffice::reason(office.save("f")), "ok");
            } else if (what == 1) {
                office.restart();
            } else if (line % 4 == 0) {
                ASSERT_EQ(office.edit("f", old + "\n", fresh + "\n", what == 2 ? "ada" : "bob"),
                          "ok");
                expected[line] = fresh;
            } else {
                std::string disk = office.disk("f");
                disk.replace(disk.find(old + "\n"), old.size(), fresh);
                office.files.put("f", disk);
                expected[line] = fresh;
            }
        }
        ASSERT_EQ(office.text("f"), joined(expected));
        ASSERT_EQ(FileOffice::reason(office.save("f")), "ok");
        ASSERT_EQ(office.disk("f"), joined(expected));
    }
}

}  // namespace
}  // namespace quire::kernel

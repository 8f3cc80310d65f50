// Rules of files: who may read, edit, save and list which paths.
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

TEST(FileCalls, ABlockCallOnAFileReadsTheDiskAndAsksTheRules) {
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

// A person may read "sealed", an agent only with an approval.
TEST(FileCalls, ChangesThatTheCallerMayNotSeeTakeNoPlaceInTheLog) {
    FileOffice office;
    office.files.put("free/f", "0\n");
    office.files.put("sealed/f", "0\n");
    EXPECT_EQ(office.edit("free/f", "0", "1"), "ok");
    const Caller person{{policy::ActorKind::human, "eve"}, 0, {}};
    for (int i = 0; i < 30; ++i) {
        const auto edited = office.ask<FileEdited>([&](auto reply) {
            office.calls->edit(
                person, "sealed/f", "insert",
                [](const seq::Rope&, std::uint64_t) {
                    return Result<edits::Planned>(edits::Planned{{{{0}, {0}, "x"}}, {}});
                },
                std::move(reply));
        });
        ASSERT_TRUE(edited) << edited.error().message();
    }
    const auto log = [&](const Caller& by) {
        const auto entries = office.ask<std::vector<LogEntry>>(
            [&](auto reply) { office.kernel->log(by, {}, 2, std::move(reply)); });
        std::string out;
        for (const LogEntry& each : *entries) cat_to(out, cat(each.path, " "));
        return out;
    };

    EXPECT_EQ(log(person), "sealed/f sealed/f ");
    EXPECT_EQ(log(FileOffice::as("ada")), "free/f free/f ");
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

TEST(FileCalls, AFileIsAsProtectedAsEachOfItsHardLinks) {
    FileOffice office;
    office.files.put("locked/x", "locked\n");
    office.files.hard_link("locked/x", "open");
    office.files.put(".quire/state", "state\n");
    office.files.hard_link(".quire/state", "innocent");
    office.files.put("elsewhere", "text\n");
    office.files.hard_link_outside("elsewhere");

    EXPECT_EQ(office.text("open"), "locked\n");
    EXPECT_EQ(office.edit("open", "locked", "opened"), "permission_denied");
    EXPECT_EQ(office.text("innocent"), "<permission_denied>");
    EXPECT_EQ(office.text("elsewhere"), "text\n");
    ASSERT_EQ(office.edit("elsewhere", "text", "other"), "ok");
    EXPECT_EQ(FileOffice::reason(office.save("elsewhere")), "hard_linked");
    office.calls->set_save(SaveWhen::on_commit);
    EXPECT_EQ(office.edit("elsewhere", "other", "more"), "hard_linked");
    EXPECT_EQ(office.disk("elsewhere"), "text\n");

    // A name that comes later closes a block that is open already.
    office.files.put("mine", "mine\n");
    ASSERT_EQ(office.edit("mine", "mine", "yours"), "ok");
    office.files.hard_link("mine", "locked/late");
    EXPECT_EQ(office.edit("mine", "yours", "ours"), "permission_denied");
}

TEST(FileCalls, WhereCaseDoesNotCountTheRulesSeeTheNamesOfTheDisk) {
    FileOffice office;
    office.files.put("locked/Plan.md", "plan\n");
    office.files.put("Notes.md", "notes\n");
    office.files.ignore_case();

    EXPECT_EQ(office.edit("LOCKED/plan.MD", "plan", "x"), "permission_denied");
    EXPECT_EQ(FileOffice::reason(office.create("Locked/new.md", "x")), "permission_denied");
    EXPECT_EQ(FileOffice::reason(office.create("NOTES.md", "x")), "file_exists");
    EXPECT_EQ(office.read("notes.MD")->file.block_id, office.read("Notes.md")->file.block_id);
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
    const auto all = office.ask<std::vector<FileStatus>>(
        [&](auto reply) { office.calls->status(FileOffice::as("ada"), {}, std::move(reply)); });
    ASSERT_TRUE(all);
    EXPECT_EQ(all->size(), 2U);
}

TEST(FileCalls, TheListShowsWhatEachFileAllows) {
    FileOffice office;
    office.files.put("locked/f", "1");
    office.files.put("free/f", "12");
    office.files.put("free/g.md", "");
    const std::string id = office.read("free/f")->file.block_id;

    const auto list = [&](std::optional<std::string> pattern, std::size_t limit) {
        FileQuery query{.limit = limit};
        if (pattern) query.pattern = text::Glob::compile(*pattern).value();
        std::string out;
        const auto found = office.ask<FileList>([&](auto reply) {
            office.calls->list(FileOffice::as("ada"), query, std::move(reply));
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

// The paths of one page.
std::string listed(FileOffice& office, const FileQuery& query, std::string* next = nullptr) {
    const auto found = office.ask<FileList>(
        [&](auto reply) { office.calls->list(FileOffice::as("ada"), query, std::move(reply)); });
    std::string out;
    for (const FileEntry& file : found->files) out += file.path + " ";
    if (next != nullptr) *next = found->next_cursor.value_or("");
    return out;
}

TEST(FileCalls, TheListLeavesOutWhatIgnoreFilesNameUnlessAllIsAsked) {
    FileOffice office;
    office.files.put(".gitignore", "out/\n*.log\n");
    office.files.put("out/a", "");
    office.files.put("b.log", "");
    office.files.put("c", "");

    EXPECT_EQ(listed(office, {.limit = 10}), ".gitignore c ");
    EXPECT_EQ(listed(office, {.all = true, .limit = 10}), ".gitignore b.log c out/a ");
}

TEST(FileCalls, ACursorGoesOnAfterThePageBefore) {
    FileOffice office;
    for (const char* path : {"a", "b/c", "b/d", "e"}) office.files.put(path, "");
    std::string next;

    EXPECT_EQ(listed(office, {.limit = 2}, &next), "a b/c ");
    EXPECT_EQ(listed(office, {.cursor = next, .limit = 2}, &next), "b/d e ");
    EXPECT_EQ(next, "");
}

}  // namespace
}  // namespace quire::kernel

// Conflicts: made by a change on the disk, listed, kept up to date and settled.
#include <string>

#include <gtest/gtest.h>

#include "kernel/files/file_gate.h"
#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

// An agent and the disk have changed the second of five lines.
void meet_on_one_line(FileOffice& office, const std::string& path = "f") {
    office.files.put(path, "one\ntwo\nthree\nfour\nfive\n");
    ASSERT_EQ(office.edit(path, "two", "agent"), "ok");
    office.files.put(path, "one\ndisk\nthree\nfour\nfive\n");
    ASSERT_EQ(office.text(path), "one\nagent\nthree\nfour\nfive\n");
}

std::string undo_as_ada(FileOffice& office, const std::string& path) {
    const std::string id = office.read(path)->file.block_id;
    return FileOffice::reason(office.ask<Undone>([&](auto reply) {
        office.kernel->undo(FileOffice::as("ada"), id, UndoScope::own, false, std::move(reply));
    }));
}

TEST(Conflict, ARecordHasBothSidesTheirBaseAndItsPlace) {
    FileOffice office;
    meet_on_one_line(office);

    const auto conflicts = office.conflicts("f");

    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_EQ(conflicts[0].conflict_id, "c1");
    EXPECT_EQ(conflicts[0].path, "f");
    EXPECT_EQ(conflicts[0].lines, (text::LineRange{{1}, {2}}));
    EXPECT_EQ(conflicts[0].base, "two\n");
    EXPECT_EQ(conflicts[0].agent, "agent\n");
    EXPECT_EQ(conflicts[0].disk, "disk\n");
    EXPECT_EQ(conflicts[0].actor, "agent:ada");
    EXPECT_EQ(conflicts[0].since_ms, 1'700'000'000'000);
    EXPECT_TRUE(office.status("f").conflict);
    EXPECT_EQ(office.conflicts("").size(), 1U);
}

TEST(Conflict, ARecordMovesWithLaterEditsAndSurvivesARestart) {
    FileOffice office;
    meet_on_one_line(office);
    ASSERT_EQ(office.edit("f", "one\n", "zero\none\n"), "ok");
    ASSERT_EQ(office.edit("f", "agent\n", "agent again\nand again\n"), "ok");
    ASSERT_EQ(office.edit("f", "three\n", "3\n"), "ok");
    office.restart();

    const auto conflicts = office.conflicts("f");

    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_EQ(conflicts[0].lines, (text::LineRange{{2}, {4}}));
    EXPECT_EQ(conflicts[0].agent, "agent again\nand again\n");
    EXPECT_EQ(conflicts[0].disk, "disk\n");
}

TEST(Conflict, AFurtherChangeOfTheDiskUpdatesTheRecord) {
    FileOffice office;
    meet_on_one_line(office);
    office.files.put("f", "one\ndisk again\nthree\nfour\nFIVE\n");

    EXPECT_EQ(office.text("f"), "one\nagent\nthree\nfour\nFIVE\n");

    const auto conflicts = office.conflicts("f");
    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_EQ(conflicts[0].conflict_id, "c1");
    EXPECT_EQ(conflicts[0].base, "two\n");
    EXPECT_EQ(conflicts[0].disk, "disk again\n");
}

TEST(Conflict, ADiskThatAgreesOrGoesBackEndsIt) {
    FileOffice agreed;
    meet_on_one_line(agreed);
    agreed.files.put("f", "one\nagent\nthree\nfour\nFIVE\n");
    EXPECT_EQ(agreed.text("f"), "one\nagent\nthree\nfour\nFIVE\n");
    EXPECT_FALSE(agreed.status("f").conflict);

    FileOffice back;
    meet_on_one_line(back);
    back.files.put("f", "one\ntwo\nthree\nfour\nfive\n");
    EXPECT_EQ(back.text("f"), "one\nagent\nthree\nfour\nfive\n");
    EXPECT_FALSE(back.status("f").conflict);
    EXPECT_EQ(FileOffice::reason(back.save("f")), "ok");
    EXPECT_EQ(back.disk("f"), "one\nagent\nthree\nfour\nfive\n");
}

TEST(Conflict, EachChoiceLeavesItsTextAndAFileThatCanBeSaved) {
    const std::pair<ConflictChoice, std::string> choices[] = {
        {ConflictChoice::agent, "agent\n"},
        {ConflictChoice::disk, "disk\n"},
        {ConflictChoice::merge, "disk agent\n"},
        {ConflictChoice::text, "mine\n"},
    };
    for (const auto& [choice, text] : choices) {
        FileOffice office;
        meet_on_one_line(office);
        const std::uint64_t before = office.read("f")->file.version;
        FileResolve what{"f", std::nullopt, choice, std::nullopt};
        if (choice == ConflictChoice::text) what.content = "mine";
        ASSERT_EQ(FileOffice::reason(office.save("f")), "disk_changed");
        ASSERT_EQ(FileOffice::reason(office.save("f")), "needs_resolution");

        const auto resolved = office.resolve(what);

        ASSERT_TRUE(resolved) << resolved.error().message();
        EXPECT_EQ(resolved->file.version, before + 1);
        EXPECT_EQ(office.text("f"), "one\n" + text + "three\nfour\nfive\n");
        EXPECT_FALSE(office.status("f").conflict);
        EXPECT_EQ(FileOffice::reason(office.save("f")), "ok");
        EXPECT_EQ(office.disk("f"), "one\n" + text + "three\nfour\nfive\n");
        EXPECT_EQ(office.resolve("f", choice), "invalid_reference");
    }
}

TEST(Conflict, OneOfTwoIsSettledAndTheOtherStays) {
    FileOffice office;
    office.files.put("f", "one\ntwo\nthree\nfour\nfive\n");
    ASSERT_EQ(office.edit("f", "two", "agent 2"), "ok");
    ASSERT_EQ(office.edit("f", "four", "agent 4"), "ok");
    office.files.put("f", "one\ndisk 2\nthree\ndisk 4\nfive\n");
    ASSERT_EQ(office.conflicts("f").size(), 2U);

    const auto both = office.resolve({"f", std::nullopt, ConflictChoice::text, "x\n"});
    EXPECT_EQ(FileOffice::reason(both), "invalid_arguments");
    const auto unknown = office.resolve({"f", "c9", ConflictChoice::disk, std::nullopt});
    EXPECT_EQ(FileOffice::reason(unknown), "invalid_reference");
    const auto first = office.resolve({"f", "c1", ConflictChoice::disk, std::nullopt});
    EXPECT_EQ(FileOffice::reason(first), "ok");

    EXPECT_EQ(office.text("f"), "one\ndisk 2\nthree\nagent 4\nfive\n");
    ASSERT_EQ(office.conflicts("f").size(), 1U);
    EXPECT_EQ(office.conflicts("f")[0].conflict_id, "c2");
    EXPECT_EQ(FileOffice::reason(office.save("f")), "needs_resolution");
    EXPECT_EQ(office.resolve("f", ConflictChoice::agent), "ok");
    EXPECT_EQ(FileOffice::reason(office.save("f")), "ok");
}

// It does not matter what was chosen: the record is open again and the file cannot be saved over the
// disk's side, also after a restart; a redo settles it once more.
TEST(Conflict, IsOpenAgainOnceItsResolutionIsUndone) {
    for (const ConflictChoice choice :
         {ConflictChoice::disk, ConflictChoice::agent, ConflictChoice::merge}) {
        SCOPED_TRACE(name_of(choice));
        FileOffice office;
        meet_on_one_line(office);
        const std::string before = office.text("f");
        ASSERT_EQ(office.resolve("f", choice), "ok");
        const std::string resolved = office.text("f");
        ASSERT_TRUE(office.conflicts("f").empty());

        ASSERT_EQ(undo_as_ada(office, "f"), "ok");
        EXPECT_EQ(office.text("f"), before);
        office.restart();

        const auto conflicts = office.conflicts("f");
        ASSERT_EQ(conflicts.size(), 1U);
        EXPECT_EQ(conflicts[0].conflict_id, "c1");
        EXPECT_EQ(conflicts[0].lines, (text::LineRange{{1}, {2}}));
        EXPECT_EQ(conflicts[0].agent, "agent\n");
        EXPECT_EQ(conflicts[0].disk, "disk\n");
        EXPECT_EQ(FileOffice::reason(office.save("f")), "needs_resolution");

        const std::string id = office.read("f")->file.block_id;
        ASSERT_TRUE(office.ask<Undone>([&](auto reply) {
            office.kernel->undo(FileOffice::as("ada"), id, UndoScope::own, true, std::move(reply));
        }));
        EXPECT_EQ(office.text("f"), resolved);
        EXPECT_TRUE(office.conflicts("f").empty());
        EXPECT_EQ(FileOffice::reason(office.save("f")), "ok");
    }
}

// Then the disk has another text than the one that the record was about.
TEST(Conflict, StaysSettledWhereTheFileWasSavedSince) {
    FileOffice office;
    meet_on_one_line(office);
    ASSERT_EQ(office.resolve("f", ConflictChoice::disk), "ok");
    ASSERT_EQ(office.edit("f", "one", "ONE"), "ok");
    ASSERT_EQ(FileOffice::reason(office.save("f")), "ok");
    ASSERT_EQ(undo_as_ada(office, "f"), "ok");
    ASSERT_EQ(undo_as_ada(office, "f"), "ok");

    EXPECT_TRUE(office.conflicts("f").empty());
    EXPECT_EQ(FileOffice::reason(office.save("f")), "ok");
}

TEST(Conflict, AResolutionIsUndoneInOneStep) {
    FileOffice office;
    meet_on_one_line(office);
    ASSERT_EQ(office.resolve("f", ConflictChoice::disk), "ok");

    EXPECT_EQ(undo_as_ada(office, "f"), "ok");

    EXPECT_EQ(office.text("f"), "one\nagent\nthree\nfour\nfive\n");
}

TEST(Conflict, ASettledConflictComesBackOnlyIfTheDiskChangesThereAgain) {
    FileOffice office;
    meet_on_one_line(office);
    ASSERT_EQ(office.resolve("f", ConflictChoice::agent), "ok");
    office.files.put("f", "one\ndisk\nthree\nfour\nFIVE\n");
    EXPECT_EQ(office.text("f"), "one\nagent\nthree\nfour\nFIVE\n");
    EXPECT_FALSE(office.status("f").conflict);

    office.files.put("f", "one\ndisk again\nthree\nfour\nFIVE\n");

    ASSERT_EQ(office.conflicts("f").size(), 1U);
    EXPECT_EQ(office.conflicts("f")[0].conflict_id, "c2");
    EXPECT_EQ(office.conflicts("f")[0].base, "disk\n");
}

TEST(Conflict, APersonsPathNeedsAnApprovalToSettleIt) {
    FileOffice office;
    office.files.put("ask/f", "one\ntwo\n");
    const Caller person{{policy::ActorKind::human, "eve"}, 0, {}, std::make_shared<const Call>()};
    const auto plan = [](const seq::Rope&, std::uint64_t) -> Result<edits::Planned> {
        return edits::Planned{{{{4}, {3}, "person"}}, {}};
    };
    ASSERT_TRUE(office.ask<FileEdited>(
        [&](auto reply) { office.calls->edit(person, "ask/f", "edit", plan, std::move(reply)); }));
    office.files.put("ask/f", "one\ndisk\n");
    ASSERT_EQ(office.conflicts("ask/f").size(), 1U);
    EXPECT_EQ(office.text("ask/f"), "one\nperson\n");

    EXPECT_EQ(office.resolve("ask/f", ConflictChoice::disk), "escalation_required");
    EXPECT_EQ(office.resolve("ask/f", ConflictChoice::agent), "escalation_required");

    EXPECT_EQ(office.text("ask/f"), "one\nperson\n");
    EXPECT_EQ(office.conflicts("ask/f").size(), 1U);
}

TEST(Conflict, AnAppendOnlyFileTakesTheDisksTextAndThenWhatWasAppended) {
    FileOffice office;
    office.files.put("log/f", "a");
    ASSERT_EQ(office.append("log/f", "b"), "ok");
    office.files.put("log/f", "ac");

    EXPECT_EQ(office.text("log/f"), "ac\nb");
    EXPECT_FALSE(office.status("log/f").conflict);
}

TEST(Conflict, AFileThatIsNeverMergedIsOneConflict) {
    FileOffice office;
    FileRules rules = *office.gate->rules();
    rules.never_merge = {text::Glob::compile("*.lock").value()};
    office.gate->set_rules(std::move(rules));
    office.files.put("x.lock", "a\nb\nc\n");
    ASSERT_EQ(office.edit("x.lock", "a", "A"), "ok");
    office.files.put("x.lock", "a\nb\nC\n");

    const auto conflicts = office.conflicts("x.lock");

    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_EQ(conflicts[0].lines, (text::LineRange{{0}, {3}}));
    EXPECT_EQ(conflicts[0].agent, "A\nb\nc\n");
    EXPECT_EQ(conflicts[0].disk, "a\nb\nC\n");
    EXPECT_EQ(office.resolve("x.lock", ConflictChoice::disk), "ok");
    EXPECT_EQ(office.text("x.lock"), "a\nb\nC\n");
    EXPECT_FALSE(office.status("x.lock").dirty);
}

TEST(Conflict, AFileThatIsDeletedUnderUnsavedEditsIsOne) {
    for (const ConflictChoice choice : {ConflictChoice::agent, ConflictChoice::disk}) {
        FileOffice office;
        office.files.put("free/f", "one\n");
        ASSERT_EQ(office.edit("free/f", "one", "two"), "ok");
        office.files.erase("free/f");

        const auto conflicts = office.conflicts("free/f");
        ASSERT_EQ(conflicts.size(), 1U);
        EXPECT_EQ(conflicts[0].kind, files::ConflictKind::deletion);
        EXPECT_EQ(conflicts[0].base, "one\n");
        EXPECT_EQ(conflicts[0].agent, "two\n");
        EXPECT_EQ(conflicts[0].disk, "");
        EXPECT_EQ(FileOffice::reason(office.save("free/f")), "disk_changed");
        EXPECT_EQ(office.resolve("free/f", ConflictChoice::merge), "needs_resolution");

        EXPECT_EQ(office.resolve("free/f", choice), "ok");

        if (choice == ConflictChoice::agent) {
            EXPECT_EQ(FileOffice::reason(office.save("free/f")), "ok");
            EXPECT_EQ(office.disk("free/f"), "two\n");
        } else {
            EXPECT_EQ(office.text("free/f"), "<file_not_found>");
            EXPECT_EQ(office.disk("free/f"), "<file_not_found>");
        }
        EXPECT_TRUE(office.conflicts("").empty());
    }
}

TEST(Conflict, AFileThatBecomesSomethingElseUnderUnsavedEditsIsOne) {
    for (const std::string_view now : {"a directory", "a link"}) {
        FileOffice office;
        office.files.put("free/f", "one\n");
        office.files.put("free/g", "other\n");
        ASSERT_EQ(office.edit("free/f", "one", "two"), "ok");
        const auto put = [&] {
            office.files.erase("free/f");
            if (now == "a link") return office.files.link("free/f", "g");
            office.files.put("free/f/inner", "x\n");
        };
        put();

        const auto conflicts = office.conflicts("free/f");
        ASSERT_EQ(conflicts.size(), 1U) << now;
        EXPECT_EQ(conflicts[0].kind, files::ConflictKind::deletion);
        EXPECT_EQ(conflicts[0].path, "free/f");
        EXPECT_EQ(conflicts[0].agent, "two\n");
        ASSERT_EQ(office.conflicts("").size(), 1U);
        // The text is kept only where it has a place.
        for (const ConflictChoice choice : {ConflictChoice::agent, ConflictChoice::merge})
            EXPECT_EQ(office.resolve("free/f", choice), "path_changed") << now;
        EXPECT_EQ(office.text("free/g"), "other\n");

        office.files.erase(now == "a link" ? "free/f" : "free/f/inner");
        EXPECT_EQ(office.resolve("free/f", ConflictChoice::agent), "ok") << now;
        EXPECT_EQ(FileOffice::reason(office.save("free/f")), "ok");
        EXPECT_EQ(office.disk("free/f"), "two\n");

        ASSERT_EQ(office.edit("free/f", "two", "three"), "ok");
        put();
        ASSERT_EQ(office.conflicts("free/f").size(), 1U) << now;
        EXPECT_EQ(office.resolve("free/f", ConflictChoice::disk), "ok") << now;
        EXPECT_TRUE(office.conflicts("").empty());
        EXPECT_EQ(office.text("free/f"), now == "a link" ? "other\n" : "<not_a_file>");
    }
}

TEST(Conflict, AFileWithoutEditsThatBecomesALinkIsTheFileThatItLeadsTo) {
    FileOffice office;
    office.files.put("f", "one\n");
    office.files.put("g", "other\n");
    ASSERT_EQ(office.text("f"), "one\n");
    office.files.link("f", "g");
    EXPECT_EQ(office.text("f"), "other\n");
    EXPECT_TRUE(office.conflicts("").empty());
    office.files.put("f", "again\n");
    EXPECT_EQ(office.text("f"), "again\n");
}

TEST(Conflict, AFileThatComesBackEndsItsDeletion) {
    FileOffice office;
    office.files.put("f", "one\ntwo\n");
    ASSERT_EQ(office.edit("f", "one", "1"), "ok");
    office.files.erase("f");
    ASSERT_EQ(office.conflicts("f").size(), 1U);
    office.files.put("f", "one\n2\n");

    EXPECT_EQ(office.text("f"), "1\n2\n");
    EXPECT_FALSE(office.status("f").conflict);
}

TEST(Reconcile, SeesBytesThatChangedUnderTheSameTimes) {
    FileOffice office;
    office.files.put("f", "one\n");
    ASSERT_EQ(office.text("f"), "one\n");
    office.files.put_unseen("f", "two\n");
    EXPECT_EQ(office.text("f"), "one\n");
    for (const std::vector<std::string>& paths : {std::vector<std::string>{"f"}, {}}) {
        office.files.put_unseen("f", paths.empty() ? "three\n" : "two\n");
        const auto results = office.reconcile(paths);
        ASSERT_TRUE(results);
        ASSERT_EQ(results->size(), 1U);
        EXPECT_EQ(results->at(0).result, ReconcileResult::resolved);
        EXPECT_EQ(office.text("f"), paths.empty() ? "three\n" : "two\n");
    }
}

TEST(Reconcile, SaysWhatCameOfEachChange) {
    FileOffice office;
    office.files.put("same", "a\n");
    office.files.put("disk", "a\n");
    office.files.put("both", "a\nb\nc\n");
    office.files.put("tie", "a\n");
    office.files.put("kept", "a\nb\nc\n");
    office.files.put("gone", "a\n");
    for (const char* path : {"same", "disk", "gone"}) ASSERT_EQ(office.text(path), "a\n");
    ASSERT_EQ(office.edit("both", "a", "A"), "ok");
    ASSERT_EQ(office.edit("tie", "a", "agent"), "ok");
    ASSERT_EQ(office.edit("kept", "a\nb", "A\nB"), "ok");
    office.files.put("disk", "b\n");
    office.files.put("both", "a\nb\nC\n");
    office.files.put("tie", "disk\n");
    office.files.put("kept", "A\nb\nc\n");
    office.files.erase("gone");
    const std::vector<std::string> paths{"same", "disk", "both", "tie", "kept", "gone"};

    const auto results = office.reconcile(paths);

    ASSERT_TRUE(results) << results.error().message();
    const auto is = [&](std::size_t i, ReconcileResult result, std::optional<Resolution> resolution,
                        std::optional<DiskChange> change) {
        EXPECT_EQ((*results)[i].path, paths[i]);
        EXPECT_EQ((*results)[i].result, result) << paths[i];
        EXPECT_EQ((*results)[i].resolution, resolution) << paths[i];
        EXPECT_EQ((*results)[i].change_type, change) << paths[i];
    };
    is(0, ReconcileResult::no_change, {}, {});
    is(1, ReconcileResult::resolved, Resolution::disk_wins, DiskChange::modified);
    is(2, ReconcileResult::resolved, Resolution::merge, DiskChange::modified);
    is(3, ReconcileResult::needs_resolution, {}, DiskChange::modified);
    is(4, ReconcileResult::resolved, Resolution::agent_wins, DiskChange::modified);
    is(5, ReconcileResult::resolved, Resolution::disk_wins, DiskChange::deleted);
    EXPECT_EQ((*results)[1].disk_changes, "--- a/disk\n+++ b/disk\n@@ -1 +1 @@\n-a\n+b\n");
    EXPECT_EQ((*results)[1].agent_changes, "");
    EXPECT_EQ((*results)[3].disk_changes, "--- a/tie\n+++ b/tie\n@@ -1 +1 @@\n-a\n+disk\n");
    EXPECT_EQ((*results)[3].agent_changes, "--- a/tie\n+++ b/tie\n@@ -1 +1 @@\n-a\n+agent\n");

    const auto again = office.reconcile(paths);
    ASSERT_TRUE(again);
    for (std::size_t i = 0; i < paths.size(); ++i) {
        EXPECT_EQ((*again)[i].result,
                  i == 3 ? ReconcileResult::needs_resolution : ReconcileResult::no_change)
            << paths[i];
    }
}

TEST(Reconcile, WithoutPathsLooksAtEveryLoadedFile) {
    FileOffice office;
    office.files.put("a", "a\n");
    office.files.put("b", "b\n");
    ASSERT_EQ(office.text("a"), "a\n");
    ASSERT_EQ(office.text("b"), "b\n");
    office.files.put("b", "B\n");

    const auto results = office.reconcile({});

    ASSERT_EQ(results->size(), 1U);
    EXPECT_EQ((*results)[0].path, "b");
    EXPECT_EQ((*results)[0].resolution, Resolution::disk_wins);
    EXPECT_TRUE(office.reconcile({})->empty());
}

TEST(Reconcile, SaysWhatAReadTookInBefore) {
    FileOffice office;
    office.files.put("f", "a\nb\nc\n");
    ASSERT_EQ(office.edit("f", "a", "A"), "ok");
    office.files.put("f", "a\nb\nC\n");
    ASSERT_EQ(office.text("f"), "A\nb\nC\n");

    const auto first = office.reconcile({"f"});

    EXPECT_EQ((*first)[0].resolution, Resolution::merge);
    EXPECT_EQ((*first)[0].agent_changes,
              "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-a\n+A\n b\n c\n");
    EXPECT_EQ((*office.reconcile({"f"}))[0].result, ReconcileResult::no_change);
}

TEST(Reconcile, ADiskThatEqualsTheUnsavedTextIsNoChange) {
    FileOffice office;
    office.files.put("f", "a\n");
    ASSERT_EQ(office.edit("f", "a", "b"), "ok");
    office.files.put("f", "b\n");

    EXPECT_EQ((*office.reconcile({"f"}))[0].result, ReconcileResult::no_change);
    EXPECT_FALSE(office.status("f").dirty);
}

}  // namespace
}  // namespace quire::kernel

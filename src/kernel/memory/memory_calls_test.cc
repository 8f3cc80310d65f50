#include "kernel/memory/memory_calls.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "kernel/memory/memory_settings.h"
#include "kernel/memory/memory_study_test.h"

namespace quire::kernel {
namespace {

using policy::Permission;

TEST(Memory, WritesSurviveARestart) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.set("build", "status", "busy"));
    ASSERT_TRUE(study.write("build", IncrementCounter{{"", "visits"}, 3}));
    ASSERT_TRUE(study.write("build", AppendToList{{"", "tags"}, "new"}));
    const std::string before = study.value("build");

    study.restart();

    EXPECT_EQ(before, R"({"status":"busy","visits":3,"tags":["new"]})");
    EXPECT_EQ(study.value("build"), before);
    EXPECT_EQ(study.version("build"), 4U);
    EXPECT_EQ(study.labels(), "build ");
}

TEST(Memory, TheWorkspacesTemplatesStandBesideTheBuiltInOnes) {
    Study study;
    const memory::BlockSchema report = memory::MapSchema{{{.name = "title", .required = true}}};
    study.calls().set({.templates = {{"bug_report", "A fault and how to see it", report}}});
    const auto make = [&](const char* name, const char* label) {
        MemoryCreate what;
        what.label = label;
        what.from_template = name;
        return study.desk.ask<MemoryVersion>([&](auto reply) {
            study.calls().create(Study::as("agent:ada"), what, std::move(reply));
        });
    };
    ASSERT_EQ(reason(make("bug_report", "bug")), "fine");
    EXPECT_EQ(study.view("bug")->row.description, "A fault and how to see it");
    EXPECT_EQ(reason(study.set("bug", "title", "It stops")), "fine");
    EXPECT_EQ(reason(make("task_list", "tasks")), "fine");
    const auto refused = make("bug", "other");
    ASSERT_EQ(reason(refused), "unknown_template");
    EXPECT_EQ(refused.error().message(),
              "there is no template 'bug'; there are partner_profile, task_list, activity_log, "
              "observation_log, scratchpad, bug_report");
    // A block keeps its schema when its template goes.
    study.calls().set({});
    EXPECT_EQ(reason(make("bug_report", "second")), "unknown_template");
    EXPECT_EQ(reason(study.set("bug", "title", "It runs")), "fine");
}

TEST(Memory, ALabelIsTakenUntilItsBlockIsDeleted) {
    Study study;
    const std::string first = study.create("notes")->block_id;
    EXPECT_EQ(reason(study.create("notes")), "label_exists");

    ASSERT_TRUE(study.erase("notes"));
    EXPECT_EQ(study.value("notes"), "invalid_reference");
    const auto second = study.create("notes", R"("Text")");

    ASSERT_TRUE(second);
    EXPECT_NE(second->block_id, first);
    EXPECT_EQ(study.value("notes"), R"("")");
    EXPECT_EQ(study.value(first), "invalid_reference");
    study.restart();
    EXPECT_EQ(study.value("notes"), R"("")");
    EXPECT_EQ(study.labels(), "notes ");
}

TEST(Memory, ALabelIsFreeOnceItsDeletionIsDurable) {
    Study study;
    ASSERT_TRUE(study.create("notes"));
    study.desk.store.hold(true);
    MemoryCalls calls(*study.desk.kernel);
    const auto erased = study.desk.start_call<MemoryVersion>(
        [&](auto reply) { calls.erase(Study::as("agent:ada"), "notes", std::move(reply)); });
    MemoryCreate again;
    again.label = "notes";
    again.schema = Value("Text");
    const auto made = study.desk.start_call<MemoryVersion>(
        [&](auto reply) { calls.create(Study::as("agent:ada"), again, std::move(reply)); });
    EXPECT_FALSE(erased->has_value() || made->has_value());

    study.desk.store.hold(false);
    study.desk.store.flush();
    study.desk.scheduler.run_all();

    ASSERT_TRUE(erased->has_value() && made->has_value());
    EXPECT_EQ(reason(**made), "fine");
    EXPECT_EQ(study.value("notes"), R"("")");
}

TEST(Memory, ADeletionThatTheStoreRefusedDidNotHappen) {
    Study study;
    ASSERT_TRUE(study.create("notes"));
    study.desk.store.fail_next();

    EXPECT_EQ(reason(study.erase("notes")), "disk_full");

    EXPECT_EQ(study.version("notes"), 1U);
    EXPECT_EQ(reason(study.create("notes")), "label_exists");
}

TEST(Memory, ACreationThatTheStoreRefusedLeavesTheLabelFree) {
    Study study;
    study.desk.store.fail_next();
    EXPECT_EQ(reason(study.create("notes")), "disk_full");
    EXPECT_EQ(study.value("notes"), "invalid_reference");
    EXPECT_EQ(study.labels(), "");

    EXPECT_EQ(reason(study.create("notes")), "fine");
    study.restart();

    EXPECT_EQ(study.version("notes"), 1U);
}

TEST(Memory, AReplacementByTheSameChangesNothing) {
    Study study;
    ASSERT_TRUE(study.create("notes", R"("Text")"));
    ASSERT_EQ(reason(study.write("notes", AppendContent{"", "abc"})), "fine");
    const std::uint64_t before = study.version("notes");

    ASSERT_EQ(reason(study.write("notes", ReplaceText{"", "b", "b"})), "fine");

    EXPECT_EQ(study.version("notes"), before);
}

TEST(Memory, AReadOnlyFieldIsItsSources) {
    Study study;
    ASSERT_TRUE(study.create("build"));

    const auto refused = study.set("build", "origin", "me");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason(), "read_only_field");
    EXPECT_EQ(refused.error().message(),
              "Field 'origin' is read-only and cannot be modified by agent");
    EXPECT_EQ(study.version("build"), 1U);
    EXPECT_EQ(reason(study.set("build", "origin", "compiler", "source:cc")), "fine");
    EXPECT_EQ(study.value("build"), R"({"origin":"compiler","visits":0})");
}

TEST(Memory, AReadOnlySectionIsItsSources) {
    Study study;
    ASSERT_TRUE(study.create("build", kBuild));

    const auto refused = study.write("build", IncrementCounter{{"diagnostics", "errors"}, 1});

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason(), "read_only_section");
    EXPECT_EQ(refused.error().message(),
              "Section 'diagnostics' is read-only and cannot be modified by agent");
    EXPECT_EQ(reason(study.write("build", AppendContent{"notes", "mine\n"})), "fine");
    EXPECT_EQ(
        reason(study.write("build", IncrementCounter{{"diagnostics", "errors"}, 2}, "source:cc")),
        "fine");
    EXPECT_EQ(study.value("build"), R"({"diagnostics":{"errors":2},"notes":"mine\n"})");
    EXPECT_EQ(json::write(study.view("build", "agent:ada", "diagnostics")->value),
              R"({"errors":2})");
}

TEST(Memory, AnotherAgentHasWhatWasSharedWithIt) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    EXPECT_EQ(reason(study.view("build", "agent:bo")), "invalid_reference");
    EXPECT_EQ(reason(study.set("build", "status", "x", "agent:bo")), "invalid_reference");
    EXPECT_EQ(study.labels("agent:bo"), "");
    EXPECT_EQ(reason(study.share("build", "agent:bo", Permission::admin, "agent:bo")),
              "invalid_reference");

    ASSERT_TRUE(study.share("build", "agent:bo", Permission::append));
    study.restart();

    EXPECT_EQ(study.view("build", "agent:bo")->row.permission, Permission::append);
    EXPECT_EQ(study.labels("agent:bo"), "build ");
    EXPECT_EQ(reason(study.write("build", AppendToList{{"", "tags"}, "bo"}, "agent:bo")), "fine");
    EXPECT_EQ(reason(study.set("build", "status", "x", "agent:bo")), "permission_denied");
    EXPECT_EQ(reason(study.erase("build", "agent:bo")), "permission_denied");
    EXPECT_EQ(reason(study.undo("build", "agent:bo")), "permission_denied");
    ASSERT_TRUE(study.share("build", "agent:bo", {}));
    EXPECT_EQ(reason(study.view("build", "agent:bo")), "invalid_reference");
    EXPECT_EQ(study.value("build"), R"({"visits":0,"tags":["bo"]})");
}

TEST(Memory, LabelsBelongToTheirOwners) {
    Study study;
    const auto view = [&](const std::string& label, const std::string& by) {
        const auto seen = study.view(label, by);
        return seen ? seen->row.owner.str() : seen.error().reason();
    };
    const std::string ada = study.create("persona", kText)->block_id;
    const auto& level = Permission::read_write;
    const std::string bo = study.create("persona", kText, level, "agent:bo")->block_id;
    EXPECT_EQ(reason(study.create("persona", kText)), "label_exists");
    study.restart();

    EXPECT_EQ(view("persona", "agent:ada"), "agent:ada");
    EXPECT_EQ(view("persona", "agent:bo"), "agent:bo");
    EXPECT_EQ(view("agent:ada/persona", "agent:ada"), "agent:ada");
    // A block that an agent may not see does not exist for it, however it is named.
    for (const std::string& name : {bo, std::string("agent:bo/persona"), std::string("nothing")})
        EXPECT_EQ(view(name, "agent:ada"), "invalid_reference") << name;
    EXPECT_EQ(study.view(bo, "agent:ada").error().message(),
              "there is no memory block '" + bo +
                  "'; context list shows those there are, context create makes one");
    EXPECT_EQ(view("persona", "agent:cy"), "invalid_reference");
    EXPECT_EQ(view(bo, "human:eve"), "agent:bo");
    EXPECT_EQ(view("persona", "human:eve"), "ambiguous_label");
    const auto ambiguous = study.view("persona", "human:eve");
    EXPECT_EQ(json::write(*ambiguous.error().details().find("candidates")),
              R"(["agent:ada/persona","agent:bo/persona"])");

    ASSERT_TRUE(study.share(bo, "agent:cy", Permission::append, "agent:bo"));
    EXPECT_EQ(view("persona", "agent:cy"), "agent:bo");
    ASSERT_TRUE(study.share(ada, "agent:cy", Permission::append));
    EXPECT_EQ(view("persona", "agent:cy"), "ambiguous_label");
    EXPECT_EQ(view("agent:ada/persona", "agent:cy"), "agent:ada");
    ASSERT_TRUE(study.create("persona", kText, level, "agent:cy"));
    EXPECT_EQ(view("persona", "agent:cy"), "agent:cy");
}

TEST(Memory, ALabelHasNotTheFormOfSomethingElse) {
    Study study;
    for (const char* label :
         {"", "b1", "b12_0_3", "agent:ada/x", "human:eve", "source:cc", "system:x", "file:a",
          "memory:x", "a\nb", "a\xC2\x85", "a\xE2\x80\xAE", "a\xE2\x80\xA8"}) {
        EXPECT_EQ(reason(study.create(label, kText)), "invalid_label") << label;
    }
    EXPECT_EQ(reason(study.create("b1x", kText)), "fine");
    EXPECT_EQ(reason(study.create("a/b", kText)), "fine");
}

TEST(Memory, BlocksOfAnEarlierProgramGetTheirOwnersAndKeepTheirLabels) {
    Study study;
    std::vector<std::string> labels{"persona", "b1", "agent:x", "two\nlines"};
    store::Batch batch;
    for (const std::string& label : labels) {
        const std::string header = R"({"format":1,"type":"working","owner":"agent:ada",
            "pinned":false,"permission":"read_write","description":"","shares":[],
            "schema":"Text"})";
        batch.documents.push_back({study.desk.store.reserve_document_key(), "memory", label, false,
                                   Bytes(header.begin(), header.end())});
    }
    study.desk.store.commit(batch, [](Result<void> stored) { ASSERT_TRUE(stored); });
    study.restart();

    for (const store::DocumentRecord& record : batch.documents) {
        const auto seen = study.view(cat("b", record.key));
        ASSERT_TRUE(seen) << record.name;
        EXPECT_EQ(seen->row.block.label, record.name);
    }
    EXPECT_EQ(study.view("persona")->row.owner.str(), "agent:ada");
    EXPECT_EQ(reason(study.create("persona", kText)), "label_exists");
    const std::vector<store::DocumentRecord> stored = study.desk.store.documents().value();
    for (const store::DocumentRecord& each : stored) EXPECT_EQ(each.owner, "agent:ada");
}

TEST(Memory, PartnersAndHumansAreAskedFirst) {
    Study study;
    ASSERT_TRUE(study.create("asks", kStatus, Permission::human));

    EXPECT_EQ(reason(study.set("asks", "status", "x")), "escalation_required");
    EXPECT_EQ(reason(study.erase("asks")), "escalation_required");

    EXPECT_EQ(study.version("asks"), 1U);
    EXPECT_EQ(reason(study.set("asks", "status", "x", "human:eve")), "fine");
}

TEST(Memory, AWriteThatChangesNothingMakesNoVersionAndSaysSo) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    const auto set = study.write("notes", SetText{"", "one two\n"});
    ASSERT_TRUE(set);
    EXPECT_FALSE(set->no_op);
    const auto again = study.write("notes", SetText{"", "one two\n"});
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->no_op);
    EXPECT_EQ(again->block.version, set->block.version);
    ASSERT_TRUE(study.write("notes", SetText{"", "one 2\n"}));
    ASSERT_TRUE(study.undo("notes"));
    EXPECT_EQ(study.value("notes"), R"("one two\n")");
}

TEST(Memory, AWriteThatChangesNothingIsNoVersion) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.set("build", "status", "same"));

    EXPECT_EQ(study.set("build", "status", "same")->block.version, 2U);
}

TEST(Memory, ARefusedWriteLeavesNothingForTheNext) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    EXPECT_EQ(reason(study.set("build", "status", 5)), "schema_mismatch");
    EXPECT_EQ(reason(study.set("build", "nothing", "x")), "field_not_found");
    EXPECT_EQ(reason(study.write("build", RemoveFromList{{"", "tags"}, 0})), "index_out_of_bounds");

    EXPECT_EQ(study.set("build", "status", "x")->block.version, 2U);
    EXPECT_EQ(study.value("build"), R"({"status":"x","visits":0})");
}

TEST(Memory, AReplacementThatWouldNotFitIsRefusedBeforeItIsMade) {
    Study study;
    ASSERT_TRUE(study.create("text", R"("Text")"));
    ASSERT_TRUE(study.write("text", AppendContent{"", std::string(1U << 20, 'a')}));

    EXPECT_EQ(reason(study.write("text", ReplaceText{"", "a", std::string(1U << 19, 'b')})),
              "too_large");
    EXPECT_EQ(reason(study.write("text", AppendContent{"", std::string((1U << 20) + 1, 'a')})),
              "too_large");

    EXPECT_EQ(study.version("text"), 2U);
}

TEST(Memory, BlockCallsReadItsPlainTextAndAreSentToTheToolContextForTheRest) {
    Study study;
    const std::string id = study.create("secret")->block_id;

    // The reader, who has no share, does not learn that it is there.
    EXPECT_EQ(study.desk.text(id), "invalid_reference");
    ASSERT_TRUE(study.share("secret", "agent:reader", Permission::read_only));

    EXPECT_EQ(study.desk.text(id), "visits: 0\n");
    EXPECT_EQ(reason(study.desk.append(id, "x")), "memory_block");
    EXPECT_EQ(reason(study.desk.splice(id, 0, 0, "x")), "memory_block");
    EXPECT_EQ(reason(study.desk.undo(id)), "memory_block");
    const auto listed = study.desk.ask<ListPage>(
        [&](auto reply) { study.desk.kernel->list(Study::as("agent:bo"), {}, std::move(reply)); });

    EXPECT_TRUE(listed->blocks.empty());
    EXPECT_EQ(study.view(id)->row.block.label, "secret");
    EXPECT_EQ(study.version("secret"), 2U);
}

TEST(Memory, ADamagedBlockIsNotNamedToAnAgentThatMayNotSeeIt) {
    Study study;
    const std::string id = study.create("secret")->block_id;
    study.restart();
    study.desk.store.refuse_loads(true);

    const auto by = [&](const std::string& name) {
        return study.desk.ask<WholeText>([&](auto reply) {
            study.desk.kernel->text(Study::as("agent:" + name), id, std::move(reply));
        });
    };
    EXPECT_NE(reason(by("ada")), "invalid_reference");
    EXPECT_EQ(reason(by("bo")), "invalid_reference");
    EXPECT_EQ(by("bo").error().message().find("secret"), std::string::npos);
}

TEST(Memory, AStoredSchemaThatDoesNotParseIsAnErrorThatKeepsIt) {
    Study study;
    ASSERT_TRUE(study.create("good"));
    const std::string bad = R"({"format":1,"type":"core","owner":"agent:ada","pinned":false,
        "permission":"read_write","description":"","shares":[],"schema":{"Forest":{}}})";
    const store::DocumentRecord record{
        study.desk.store.reserve_document_key(), "memory",   "bad", false,
        Bytes(bad.begin(), bad.end()),           "agent:ada"};
    store::Batch batch;
    batch.documents = {record};
    study.desk.store.commit(std::move(batch), [](Result<void> stored) { ASSERT_TRUE(stored); });
    study.restart();

    const auto seen = study.view("bad");

    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code(), Errc::corrupt);
    EXPECT_EQ(reason(study.set("bad", "status", "x")), "corrupt");
    EXPECT_EQ(reason(study.erase("bad")), "corrupt");
    EXPECT_EQ(reason(study.create("bad")), "label_exists");
    EXPECT_EQ(study.labels(), "good ?bad");
    const std::vector<store::DocumentRecord> stored = study.desk.store.documents().value();
    const auto kept = std::find_if(stored.begin(), stored.end(),
                                   [](const auto& each) { return each.name == "bad"; });
    ASSERT_NE(kept, stored.end());
    EXPECT_EQ(kept->header, record.header);
}

TEST(Memory, ARefusedCreationLeavesTheLabelFree) {
    Study study;
    EXPECT_EQ(reason(study.create("tree", R"({"Tree":{}})")), "invalid_schema");
    EXPECT_EQ(reason(study.create("")), "invalid_label");
    EXPECT_EQ(reason(study.create("two\nlines")), "invalid_label");
    EXPECT_EQ(reason(study.create(std::string(201, 'x'))), "invalid_label");

    EXPECT_EQ(reason(study.create("tree")), "fine");
    EXPECT_EQ(study.labels(), "tree ");
}

}  // namespace
}  // namespace quire::kernel

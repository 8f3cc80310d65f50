#include "kernel/recovery/salvage.h"

#include <gtest/gtest.h>

#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "kernel/recovery/salvage_directory.h"
#include "kernel/recovery/stored_workspace_for_test.h"

namespace quire::kernel {
namespace {

const SalvageOptions kOptions{.workspace = "/home/ada/project", .version = "1.2.3", .at_ms = 0};

TEST(Salvage, EveryDocumentIsATextAndALoroBlob) {
    const TestDirectory directory(store::quick_parent());
    StoredWorkspace workspace(directory / "quire.db");
    workspace.say("main", "hello\n");
    workspace.remember("plan", "first the roots\n");

    const Result<Salvaged> saved = salvage(workspace.store(), directory / "out", kOptions);

    ASSERT_TRUE(saved) << saved.error().message();
    EXPECT_EQ(saved->whole, 2U);
    EXPECT_TRUE(saved->is_whole());
    EXPECT_EQ(directory.get("out/memory/b2-plan.txt"), "first the roots\n");
    EXPECT_NE(directory.get("out/conversations/b1-main.txt").find("hello\n"), std::string::npos);
    const std::string blob = directory.get("out/memory/b2-plan.loro");
    crdt::Doc doc(1);
    ASSERT_TRUE(doc.import(codec::decode_updates(Bytes(blob.begin(), blob.end())).value()));
    EXPECT_EQ(json::write(doc.value()), R"({"content":"first the roots\n"})");
}

TEST(Salvage, TheManifestSaysWhatWasSavedFromWhat) {
    const TestDirectory directory(store::quick_parent());
    StoredWorkspace workspace(directory / "quire.db");
    workspace.remember("plan/a b", "text\n");

    ASSERT_TRUE(salvage(workspace.store(), directory / "out", kOptions));

    const std::string manifest = directory.get("out/SALVAGE.txt");
    for (const char* const part :
         {"workspace: /home/ada/project", "program:   quire 1.2.3", "1 documents were saved whole",
          "- b1 memory 'plan/a b' of agent:ada\n    memory/b1-plan%2Fa%20b.txt, 5 bytes",
          "audit.txt", "quire.db", "Could not be read:\n- nothing"})
        EXPECT_NE(manifest.find(part), std::string::npos) << part << "\n" << manifest;
}

TEST(Salvage, ItsCopyOfTheStoreIsAWholeWorkspace) {
    const TestDirectory directory(store::quick_parent());
    {
        StoredWorkspace workspace(directory / "quire.db");
        workspace.remember("plan", "text\n");
        ASSERT_TRUE(salvage(workspace.store(), directory / "out", kOptions));
    }
    StoredWorkspace copy(directory / "out/quire.db");
    ASSERT_TRUE(copy.is_open()) << copy.refusal();
    EXPECT_EQ(copy.view("plan")->value, Value("text\n"));
}

TEST(Salvage, NothingIsWrittenOver) {
    const TestDirectory directory(store::quick_parent());
    StoredWorkspace workspace(directory / "quire.db");
    directory.put("out/mine", "mine");

    const Result<Salvaged> saved = salvage(workspace.store(), directory / "out", kOptions);

    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().reason(), "directory_not_empty");
    EXPECT_FALSE(directory.has("out/SALVAGE.txt"));
}

TEST(Salvage, AHostileLabelIsNoPathAndNoLineOfTheManifest) {
    EXPECT_EQ(safe_name("../etc"), "%2E.%2Fetc");
    EXPECT_EQ(safe_name("."), "%2E");
    EXPECT_EQ(safe_name("a\n\xff"), "a%0A%FF");
    EXPECT_LE(safe_name(std::string(1000, '\n')).size(), 200U);
}

}  // namespace
}  // namespace quire::kernel

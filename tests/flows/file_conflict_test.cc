// The tool `file` where the disk and a document changed the same words: conflicts, resolve,
// reconcile.
#include <string>

#include <gtest/gtest.h>

#include "tests/flows/workspace.h"

namespace quire {
namespace {

// An agent's unsaved edit and a person's meet on the second line.
void meet(Workspace& workspace, const std::string& path) {
    workspace.disk.put(path, "one\ntwo\nthree\n");
    ASSERT_EQ(workspace.outcome(cat(R"({"operation":"replace","path":")", path,
                                    R"(","find":"two","replace":"agent"})"),
                                path.starts_with("ask/") ? "human:tom" : "agent:ada"),
              "ok");
    workspace.disk.put(path, "one\nperson\nthree\n");
}

const Map& only(const Value& answer, std::string_view member) {
    const List& all = answer.get(member)->as_list();
    CHECK(all.size() == 1);
    return all.front().as_map();
}

TEST(FileConflict, IsShownWithBothSidesInTheProfilesNumbers) {
    for (const Profile profile : {Profile::full, Profile::model}) {
        Workspace workspace(profile);
        meet(workspace, "f");
        const tools::EncodedResult shown =
            workspace.call(R"({"operation":"conflicts","path":"f"})");
        const Map& conflict = only(shown.structured, "conflicts");

        EXPECT_EQ(*conflict.find("conflict_id"), Value("c1"));
        EXPECT_EQ(*conflict.find("path"), Value("f"));
        EXPECT_EQ(*conflict.find("start"), Value(profile == Profile::full ? 1 : 2));
        EXPECT_EQ(*conflict.find("end"), Value(2));
        EXPECT_EQ(*conflict.find("base"), Value("two\n"));
        EXPECT_EQ(*conflict.find("agent"), Value("agent\n"));
        EXPECT_EQ(*conflict.find("disk"), Value("person\n"));
        EXPECT_EQ(*conflict.find("actor"), Value("agent:ada"));
        EXPECT_EQ(*conflict.find("since"), Value("2023-11-14T22:13:20.000Z"));
        EXPECT_NE(shown.text.find("+agent\n"), std::string::npos) << shown.text;
        EXPECT_NE(shown.text.find("-person\n"), std::string::npos) << shown.text;
        workspace.call(R"({"operation":"status","path":"f"})");
        EXPECT_EQ(*workspace.last.get("conflict"), Value(true));
    }
}

TEST(FileConflict, IsSettledByAChoiceAndThenSaved) {
    Workspace workspace;
    meet(workspace, "f");
    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"f"})"), "disk_changed");
    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"f"})"), "needs_resolution");
    EXPECT_EQ(workspace.outcome(R"({"operation":"resolve","path":"f","choice":"text"})"),
              "invalid_arguments");
    EXPECT_EQ(workspace.outcome(
                  R"({"operation":"resolve","path":"f","choice":"disk","conflict_id":"c2"})"),
              "invalid_reference");

    EXPECT_EQ(workspace.outcome(
                  R"({"operation":"resolve","path":"f","choice":"text","content":"both\n"})"),
              "ok");

    EXPECT_EQ(*workspace.last.get("path"), Value("f"));
    EXPECT_EQ(workspace.content("f"), "one\nboth\nthree\n");
    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"f"})"), "ok");
    EXPECT_EQ(workspace.disk.get("f"), "one\nboth\nthree\n");
    workspace.call(R"({"operation":"conflicts"})");
    EXPECT_TRUE(workspace.last.get("conflicts")->as_list().empty());
}

TEST(FileConflict, AnApprovedResolutionGoesThrough) {
    Workspace workspace;
    meet(workspace, "ask/f");
    constexpr std::string_view kResolve =
        R"({"operation":"resolve","path":"ask/f","choice":"disk"})";
    const std::string id = workspace.asked(kResolve);
    EXPECT_EQ(workspace.content("ask/f"), "one\nagent\nthree\n");

    EXPECT_EQ(workspace.resolve(id), "ok");

    EXPECT_EQ(workspace.outcome(kResolve), "ok");
    EXPECT_EQ(workspace.content("ask/f"), "one\nperson\nthree\n");
}

TEST(FileConflict, ReconcileSaysWhatCameOfEachFile) {
    Workspace workspace;
    meet(workspace, "f");
    workspace.disk.put("g", "a\n");
    ASSERT_EQ(workspace.outcome(R"({"operation":"read","path":"g"})"), "ok");
    workspace.disk.put("g", "b\n");

    ASSERT_EQ(workspace.outcome(R"({"operation":"reconcile","paths":["f","g"]})"), "ok");

    const List& results = workspace.last.get("results")->as_list();
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(*results[0].get("result"), Value("NeedsResolution"));
    EXPECT_EQ(*results[0].get("disk_changes"),
              Value("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+person\n three\n"));
    EXPECT_EQ(*results[0].get("agent_changes"),
              Value("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+agent\n three\n"));
    EXPECT_EQ(*results[1].get("result"), Value("Resolved"));
    EXPECT_EQ(*results[1].get("resolution"), Value("DiskWins"));
    EXPECT_EQ(*results[1].get("change_type"), Value("Modified"));
    EXPECT_NE(results[1].get("final_version"), nullptr);
    ASSERT_EQ(workspace.outcome(R"({"operation":"reconcile"})"), "ok");
    EXPECT_EQ(workspace.last.get("results")->as_list().size(), 1U);
}

}  // namespace
}  // namespace quire

// The tool `file` with the operations stage and unstage.
#include <string>

#include <gtest/gtest.h>

#include "tests/flows/workspace.h"

namespace quire {
namespace {

TEST(FileStage, CallsOnThePathGoToThePrivateCopy) {
    for (const Profile profile : {Profile::full, Profile::model}) {
        Workspace workspace(profile);
        workspace.disk.put("f", "one\ntwo\n");

        ASSERT_EQ(workspace.outcome(R"({"operation":"stage","path":"f"})"), "ok");
        EXPECT_NE(workspace.last.get("block_id"), nullptr);
        EXPECT_EQ(workspace.outcome(R"({"operation":"stage","path":"f"})"), "already_staged");
        ASSERT_EQ(
            workspace.outcome(R"({"operation":"replace","path":"f","find":"two","replace":"2"})"),
            "ok");
        workspace.call(R"({"operation":"status","path":"f"})");
        EXPECT_EQ(*workspace.last.get("staged"), Value(true));
        EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"f"})"), "staged");
        EXPECT_EQ(workspace.disk.get("f"), "one\ntwo\n");

        ASSERT_EQ(workspace.outcome(R"({"operation":"unstage","path":"f","apply":true})"), "ok");
        ASSERT_EQ(workspace.outcome(R"({"operation":"save","path":"f"})"), "ok");
        EXPECT_EQ(workspace.disk.get("f"), "one\n2\n");
        EXPECT_EQ(workspace.outcome(R"({"operation":"unstage","path":"f","apply":true})"),
                  "not_staged");
    }
}

TEST(FileStage, AnApprovedMergeGoesThrough) {
    Workspace workspace;
    workspace.disk.put("ask/f", "one\n");
    ASSERT_EQ(workspace.outcome(R"({"operation":"stage","path":"ask/f"})"), "ok");
    constexpr std::string_view kEdit =
        R"({"operation":"replace","path":"ask/f","find":"one","replace":"1"})";
    ASSERT_EQ(workspace.resolve(workspace.asked(kEdit)), "ok");
    ASSERT_EQ(workspace.outcome(kEdit), "ok");

    constexpr std::string_view kMerge = R"({"operation":"unstage","path":"ask/f","apply":true})";
    const std::string id = workspace.asked(kMerge);
    EXPECT_EQ(workspace.content("ask/f"), "1\n");
    ASSERT_EQ(workspace.resolve(id), "ok");

    EXPECT_EQ(workspace.outcome(kMerge), "ok");
    EXPECT_EQ(workspace.content("ask/f"), "1\n");
    EXPECT_EQ(workspace.outcome(R"({"operation":"unstage","path":"ask/f","apply":false})"),
              "not_staged");
}

}  // namespace
}  // namespace quire

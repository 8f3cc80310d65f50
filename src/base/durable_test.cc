#include "base/durable.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/test_directory.h"

namespace quire {
namespace {

namespace disk = std::filesystem;

TEST(Durable, AFileIsReplacedAsAWholeAndItsOwnersAlone) {
    const TestDirectory directory;
    directory.put("file", "before, and longer");
    directory.put("file.new", "left by a crash");
    ASSERT_TRUE(replace_durably(directory / "file", "after"));
    EXPECT_EQ(directory.get("file"), "after");
    EXPECT_FALSE(directory.has("file.new"));
    EXPECT_EQ(disk::status(directory / "file").permissions(), disk::perms(0600));
}

TEST(Durable, ALinkInTheDraftsPlaceIsNotFollowed) {
    const TestDirectory directory;
    directory.put("other", "other");
    directory.link("file.new", "other");
    ASSERT_TRUE(replace_durably(directory / "file", "text"));
    EXPECT_EQ(directory.get("other"), "other");
    EXPECT_EQ(directory.get("file"), "text");
}

TEST(Durable, AFileThatCannotBeReplacedIsNamedAndLeavesNoDraft) {
    const TestDirectory directory;
    directory.put("file/in", "a directory that is not empty");
    const auto refused = replace_durably(directory / "file", "text");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason(), "io_error");
    EXPECT_EQ(refused.error().details().find("path")->as_string(), directory / "file");
    EXPECT_FALSE(directory.has("file.new"));
    EXPECT_FALSE(sync_name(directory / "none/file"));
    EXPECT_TRUE(sync_name(directory / "file"));
}

}  // namespace
}  // namespace quire

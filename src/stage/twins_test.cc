#include "stage/twins.h"

#include <gtest/gtest.h>

namespace quire::stage {
namespace {

constexpr std::string_view kRoot = "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n";

std::vector<Twin> twins(const std::string& more, const std::string& workspace) {
    return twins_in(std::string(kRoot) + more, workspace);
}

TEST(Twins, AWorkspaceOnADiskThatIsMountedOnceHasNone) {
    EXPECT_TRUE(twins("", "/home/ada/w").empty());
    EXPECT_TRUE(twins("30 27 0:30 / /tmp rw - tmpfs tmpfs rw\n", "/home/ada/w").empty());
    EXPECT_TRUE(twins_in("", "/home/ada/w").empty());
    EXPECT_TRUE(twins_in("words\n1 2\n\n", "/home/ada/w").empty());
}

TEST(Twins, AMountOfADirectoryAboveShowsItToo) {
    const std::string bind = "31 27 254:0 /home /srv/people rw - ext4 /dev/vda rw\n";
    EXPECT_EQ(twins(bind, "/home/ada/w"),
              (std::vector<Twin>{{"/srv/people/ada/w", "/home/ada/w"}}));
    // Seen from there, the first is the other one.
    EXPECT_EQ(twins(bind, "/srv/people/ada/w"),
              (std::vector<Twin>{{"/home/ada/w", "/srv/people/ada/w"}}));
}

TEST(Twins, AMountOfAPartShowsThePart) {
    EXPECT_EQ(twins("31 27 254:0 /home/ada/w/src /srv/src rw - ext4 /dev/vda rw\n", "/home/ada/w"),
              (std::vector<Twin>{{"/srv/src", "/home/ada/w/src"}}));
    // One within the workspace is seen in the stage as the workspace is.
    EXPECT_TRUE(
        twins("31 27 254:0 /home/ada/w/src /home/ada/w/also rw - ext4 /dev/vda rw\n", "/home/ada/w")
            .empty());
}

TEST(Twins, NamesAreComparedByComponents) {
    EXPECT_TRUE(
        twins("31 27 254:0 /home/ada/work /srv/w rw - ext4 /dev/vda rw\n", "/home/ada/w").empty());
    EXPECT_EQ(
        twins("31 27 254:0 /home/ada\\040b /srv/a\\134b rw - ext4 /dev/vda rw\n", "/home/ada b/w"),
        (std::vector<Twin>{{"/srv/a\\b/w", "/home/ada b/w"}}));
}

TEST(Twins, AMountBelowTheWorkspaceIsFound) {
    const char* const mounts =
        "30 1 254:0 / /home/ada rw - ext4 /dev/vda rw\n31 27 0:40 / /home/ada/w rw - tmpfs none "
        "rw\n"
        "32 27 0:41 / /home/ada/w2 rw - tmpfs none rw\n33 27 0:42 / /home/ada/w/x/y rw - tmpfs "
        "none rw\n";
    EXPECT_EQ(mount_below(mounts, "/home/ada/w"), "/home/ada/w/x/y");
    EXPECT_EQ(mount_below(mounts, "/home/ada/w2"), "");
}

TEST(Twins, AnotherDiskIsAnother) {
    EXPECT_TRUE(
        twins("31 27 254:1 /home /srv/people rw - ext4 /dev/vdb rw\n", "/home/ada/w").empty());
}

}  // namespace
}  // namespace quire::stage

#include "base/file_text.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/test_directory.h"

namespace quire {
namespace {

TEST(FileText, IsTheBytesOfAFile) {
    const TestDirectory directory;
    const std::string bytes("a\0b\r\n\xFF", 6);
    directory.put("file", bytes);
    EXPECT_EQ(file_text(directory / "file"), bytes);
}

TEST(FileText, OfWhatCannotBeReadIsEmpty) {
    const TestDirectory directory;
    EXPECT_EQ(file_text(directory / "missing"), "");
    EXPECT_EQ(file_text(directory.path()), "");
}

// The file of a process that ended opens no more, or opens and cannot be read.
TEST(FileText, OfAProcessThatEndsIsEmptyOrWhole) {
    for (int round = 0; round < 200; ++round) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) ::_exit(0);
        const std::string stat = file_text(cat("/proc/", child, "/stat"));
        EXPECT_TRUE(stat.empty() || stat.starts_with(cat(child, " ("))) << stat;
        ::waitpid(child, nullptr, 0);
        EXPECT_EQ(file_text(cat("/proc/", child, "/stat")), "");
    }
}

}  // namespace
}  // namespace quire

#include "base/file_rights.h"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/test_directory.h"

namespace quire {
namespace {

// The answer to an ordinary user: root may use any file.
std::string said_to_a_user(const std::string& file) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
        const std::string said = missing_rights(file);
        ::_exit(::write(ends[1], said.data(), said.size()) < 0 ? 1 : 0);
    }
    ::close(ends[1]);
    std::string out(1000, '\0');
    const ssize_t length = ::read(ends[0], out.data(), out.size());
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    out.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    return out;
}

class FileRights : public ::testing::Test {
protected:
    FileRights() {
        std::ofstream(file_) << "x";
        ::chmod(directory_.path().c_str(), 0755);
        if (::geteuid() == 0) {
            EXPECT_EQ(::chown(file_.c_str(), 65534, 65534), 0);
        }
    }
    void set_mode(mode_t mode) { ASSERT_EQ(::chmod(file_.c_str(), mode), 0); }

    const TestDirectory directory_;
    const std::string file_ = directory_ / "file";
};

TEST_F(FileRights, NothingIsSaidOfAFileThatMayBeUsedOrIsNotThere) {
    set_mode(0600);
    EXPECT_EQ(said_to_a_user(file_), "");
    EXPECT_EQ(said_to_a_user(directory_ / "none"), "");
}

TEST_F(FileRights, AModeIsNamedWithTheCommandThatChangesIt) {
    set_mode(0400);
    EXPECT_EQ(said_to_a_user(file_), cat("its mode is 0400. Run: chmod u+rw ", file_));
    set_mode(0200);
    EXPECT_EQ(said_to_a_user(file_), cat("its mode is 0200. Run: chmod u+rw ", file_));
}

TEST_F(FileRights, AnotherOwnerIsNamed) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    set_mode(0644);
    ASSERT_EQ(::chown(file_.c_str(), 4321, 4321), 0);
    EXPECT_EQ(said_to_a_user(file_),
              "it belongs to user 4321 and its mode is 0644. Work as that "
              "user, or have it made yours with chown");
}

}  // namespace
}  // namespace quire

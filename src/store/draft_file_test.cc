// A loss of power cannot be had in a test, so the test sees which files are flushed instead: its
// fsync() takes the place of the system's.
#include "store/draft_file.h"

#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/test_directory.h"

namespace quire::store {
namespace {

// While a test looks, this keeps the inodes that are flushed on its thread, in turn.
thread_local std::vector<ino_t>* flushed_inodes = nullptr;

ino_t inode_of(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace
}  // namespace quire::store

extern "C" int fsync(int fd) {
    struct stat status = {};
    std::vector<ino_t>* const inodes = quire::store::flushed_inodes;
    if (inodes != nullptr && ::fstat(fd, &status) == 0) inodes->push_back(status.st_ino);
    return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace quire::store {
namespace {

TEST(DraftFile, AFileThatIsKeptIsFlushedAndThenItsName) {
    const TestDirectory directory;
    DraftFile draft = DraftFile::make(directory / "copy").value();

    std::vector<ino_t> flushed;
    flushed_inodes = &flushed;
    const Result<void> kept = draft.keep();
    flushed_inodes = nullptr;

    ASSERT_TRUE(kept);
    EXPECT_EQ(flushed,
              (std::vector<ino_t>{inode_of(directory / "copy"), inode_of(directory.path())}));
}

TEST(DraftFile, ADraftThatIsNotKeptLeavesNothing) {
    const TestDirectory directory;
    { const DraftFile draft = DraftFile::make(directory / "copy").value(); }
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

}  // namespace
}  // namespace quire::store

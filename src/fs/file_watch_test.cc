#include "fs/file_watch.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <poll.h>

#include "base/test_directory.h"

namespace quire::fs {
namespace {

// A watch that has seen the file as it is, long after it was written.
class SettledWatch {
public:
    explicit SettledWatch(const TestDirectory& directory) : watch_(directory.path(), "watched") {
        while (watch_.may_have_changed()) ::poll(nullptr, 0, 5);
    }
    FileWatch& operator*() { return watch_; }
    FileWatch* operator->() { return &watch_; }

private:
    FileWatch watch_;
};

bool is_readable(int fd) {
    pollfd wanted = {.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&wanted, 1, 5000) == 1;
}

TEST(FileWatch, AFileThatStaysAsItIsHasNotChanged) {
    const TestDirectory directory;
    directory.put("watched", "one");
    SettledWatch watch(directory);

    EXPECT_FALSE(watch->may_have_changed());
}

TEST(FileWatch, WritingReplacingAndRemovingAreChanges) {
    const TestDirectory directory;
    SettledWatch watch(directory);

    directory.put("watched", "made");
    EXPECT_TRUE(watch->may_have_changed());
    directory.put("other", "made");
    std::filesystem::rename(directory / "other", directory / "watched");
    EXPECT_TRUE(watch->may_have_changed());
    std::filesystem::remove(directory / "watched");
    EXPECT_TRUE(watch->may_have_changed());
}

// Two changes within a tick of the file system's clock have one stamp.
TEST(FileWatch, AFileWrittenAMomentAgoIsLookedAtAgain) {
    const TestDirectory directory;
    SettledWatch watch(directory);
    directory.put("watched", "one");
    EXPECT_TRUE(watch->may_have_changed());

    directory.put("watched", "two");

    EXPECT_TRUE(watch->may_have_changed());
}

TEST(FileWatch, AnEventWakesWhoWaits) {
    const TestDirectory directory;
    SettledWatch watch(directory);
    watch->take_events();

    directory.put("watched", "one");

    EXPECT_TRUE(is_readable(watch->fd()));
    watch->take_events();
    EXPECT_TRUE(watch->may_have_changed());
}

}  // namespace
}  // namespace quire::fs

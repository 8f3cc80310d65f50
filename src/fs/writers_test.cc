// Other programs that have a file open for writing: while it is read, and when a save takes its place.
#include <atomic>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_directory.h"
#include "fs/disk_files.h"
#include "fs/reason_for_test.h"

namespace quire::fs {
namespace {

std::unique_ptr<DiskFiles> files_in(const TestDirectory& directory, std::int64_t settle_ms = 100,
                                std::int64_t busy_ms = 5000) {
    return std::move(
        DiskFiles::open(directory.path(), {1, {}, settle_ms, busy_ms}).value());
}

void sleep_ms(int ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

class Stopwatch {
public:
    std::int64_t ms() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(
                   std::chrono::steady_clock::now() - start_)
            .count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void put_on(const Fd& fd, std::string_view bytes) {
    ASSERT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

TEST(Writers, AHalfWrittenFileIsReadWhenItsWriterHasFinished) {
    const TestDirectory directory;
    directory.put("f", "old\n");
    // A pause of the writer is never taken for its end, however slow the machine is.
    const auto files = files_in(directory, 60'000, 120'000);
    std::atomic<bool> begun = false;
    // A slow writer: it empties the file and writes ten lines, with pauses.
    std::thread writer([&] {
        const Fd fd(::open((directory / "f").c_str(), O_WRONLY | O_TRUNC));
        for (int i = 0; i < 10; ++i) {
            put_on(fd, cat("line ", i, "\n"));
            begun = true;
            sleep_ms(30);
        }
    });
    while (!begun) sleep_ms(1);

    const auto read = files->read("f", kLimit);
    writer.join();

    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->bytes.size(), 10 * std::string_view("line 0\n").size());
}

TEST(Writers, AnOpenFileThatIsLeftAloneIsReadAfterTheSettleTime) {
    const TestDirectory directory;
    const Fd fd(::open((directory / "log").c_str(), O_WRONLY | O_CREAT, 0600));
    const auto files = files_in(directory, 80, 120'000);
    const Stopwatch watch;
    put_on(fd, "line\n");

    EXPECT_EQ(files->read("log", kLimit)->bytes, "line\n");

    EXPECT_GE(watch.ms(), 60);
    EXPECT_LT(watch.ms(), 60'000);
}

TEST(Writers, AFileThatIsWrittenToAllTheTimeIsBusyAndHoldsUpOneCall) {
    const TestDirectory directory;
    const Fd fd(::open((directory / "log").c_str(), O_WRONLY | O_CREAT, 0600));
    std::atomic<bool> stop = false;
    std::thread writer([&] {
        while (!stop) {
            put_on(fd, "line\n");
            sleep_ms(5);
        }
    });
    const auto files = files_in(directory, 60'000, 3000);

    const Stopwatch first;
    EXPECT_EQ(reason(files->read("log", kLimit)), "busy");
    EXPECT_GE(first.ms(), 2990);
    const Stopwatch second;
    EXPECT_EQ(reason(files->read("log", kLimit)), "busy");
    EXPECT_LT(second.ms(), 2500);

    stop = true;
    writer.join();
    files->set_settle_ms(50);
    sleep_ms(100);
    EXPECT_EQ(reason(files->read("log", kLimit)), "ok");
}

TEST(Writers, AWritableMappingCountsAsAWriter) {
    const TestDirectory directory;
    directory.put("f", "old");
    const Fd reading(::open((directory / "f").c_str(), O_RDONLY));
    EXPECT_EQ(writers_of(reading.get()), Writers::none);
    void* mapping = nullptr;
    {
        const Fd fd(::open((directory / "f").c_str(), O_RDWR));
        EXPECT_EQ(writers_of(reading.get()), Writers::some);
        mapping = ::mmap(nullptr, 3, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
        ASSERT_NE(mapping, MAP_FAILED);
    }
    EXPECT_EQ(writers_of(reading.get()), Writers::some);
    ::munmap(mapping, 3);
    EXPECT_EQ(writers_of(reading.get()), Writers::none);
}

TEST(Writers, ALeaseOnAnothersFileIsNotKnownAndAgeDecides) {
    if (::geteuid() != 0) GTEST_SKIP() << "changing the owner of a file needs root";
    const TestDirectory directory;
    directory.put("f", "theirs");
    ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
    ASSERT_EQ(::chown((directory / "f").c_str(), 1234, 1234), 0);
    ASSERT_EQ(::chmod((directory / "f").c_str(), 0644), 0);
    // In a process of its own, since a test must not give up its rights.
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (::setresgid(2000, 2000, 2000) != 0 || ::setresuid(2000, 2000, 2000) != 0) ::_exit(2);
        const Fd fd(::open((directory / "f").c_str(), O_RDONLY));
        if (writers_of(fd.get()) != Writers::unknown) ::_exit(3);
        const auto files = files_in(directory, 50);
        const auto read = files->read("f", kLimit);
        ::_exit(read && read->bytes == "theirs" ? 0 : 4);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Writers, TheSignalThatBreaksALeaseEndsNobody) {
    const TestDirectory directory;
    directory.put("f", "old");
    std::atomic<bool> stop = false;
    std::thread opener([&] {
        while (!stop) {
            const Fd fd(::open((directory / "f").c_str(), O_WRONLY));
        }
    });
    const Fd reading(::open((directory / "f").c_str(), O_RDONLY));
    std::size_t seen[3] = {};
    for (int i = 0; i < 20'000; ++i) ++seen[static_cast<std::size_t>(writers_of(reading.get()))];
    stop = true;
    opener.join();

    EXPECT_EQ(seen[static_cast<std::size_t>(Writers::unknown)], 0U);
}

TEST(Writers, BytesThatAreWrittenToADisplacedFileAreSeen) {
    const TestDirectory directory;
    directory.put("f", "old\n");
    const auto files = files_in(directory);
    const Fd fd(::open((directory / "f").c_str(), O_WRONLY | O_APPEND));

    const auto saved = files->save("f", "new\n", Hash::of("old\n"));

    ASSERT_TRUE(saved) << saved.error().message();
    ASSERT_NE(saved->displaced, nullptr);
    EXPECT_FALSE(saved->displaced->changed(kLimit, true)->has_value());
    put_on(fd, "late\n");
    EXPECT_TRUE(saved->displaced->is_being_written());
    EXPECT_EQ(saved->displaced->known(), "old\n");
    EXPECT_EQ(saved->displaced->changed(kLimit, false)->value(), "old\nlate\n");
    saved->displaced->accept("old\nlate\n");
    EXPECT_FALSE(saved->displaced->changed(kLimit, true)->has_value());
    EXPECT_EQ(directory.get("f"), "new\n");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(Writers, ADisplacedFileThatNobodyCanWriteToIsNotKept) {
    const TestDirectory directory;
    directory.put("f", "old");
    const Fd reading(::open((directory / "f").c_str(), O_RDONLY));

    EXPECT_EQ(files_in(directory)->save("f", "new", Hash::of("old"))->displaced, nullptr);
}

}  // namespace
}  // namespace quire::fs

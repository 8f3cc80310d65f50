#include "base/write_all.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

namespace quire {
namespace {

class Pipe {
public:
    explicit Pipe(int flags = 0) { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC | flags), 0); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        close_reader();
        close_writer();
    }
    int reader() const { return ends_[0]; }
    int writer() const { return ends_[1]; }
    void close_reader() { shut(ends_[0]); }
    void close_writer() { shut(ends_[1]); }

private:
    static void shut(int& end) {
        if (end >= 0) ::close(end);
        end = -1;
    }
    std::array<int, 2> ends_ = {-1, -1};
};

std::int64_t errno_of(const Result<void>& written) {
    return written ? 0 : written.error().details().find("errno")->as_int();
}

// Each part that is read interrupts the writer, who has written a part of it all by then.
TEST(WriteAll, GoesOnAfterPartsAndInterruptions) {
    struct sigaction interrupting = {};
    interrupting.sa_handler = [](int) {};  // Without SA_RESTART.
    struct sigaction before = {};
    ASSERT_EQ(::sigaction(SIGUSR1, &interrupting, &before), 0);
    std::string text(std::size_t{1} << 20, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + (i >> 8U));
    Pipe pipe;
    std::string got;
    const pthread_t writer = ::pthread_self();
    std::thread reading([&] {
        std::array<char, 50'000> part;
        for (;;) {
            const ssize_t length = ::read(pipe.reader(), part.data(), part.size());
            if (length <= 0) return;
            got.append(part.data(), static_cast<std::size_t>(length));
            ::pthread_kill(writer, SIGUSR1);
        }
    });

    const auto written = write_all(pipe.writer(), text);

    pipe.close_writer();
    reading.join();
    ::sigaction(SIGUSR1, &before, nullptr);
    EXPECT_TRUE(written) << written.error().message();
    EXPECT_EQ(got.size(), text.size());
    EXPECT_TRUE(got == text);
}

TEST(WriteAll, SaysWhyNotAllWasWritten) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    Pipe nobody;
    nobody.close_reader();
    EXPECT_EQ(errno_of(write_all(nobody.writer(), "a")), EPIPE);
    EXPECT_TRUE(write_all(nobody.writer(), ""));
    std::signal(SIGPIPE, before);

    Pipe full(O_NONBLOCK);
    const std::string more(std::size_t{4} << 20, 'a');
    const auto refused = write_all(full.writer(), more);
    EXPECT_EQ(errno_of(refused), EAGAIN);
    EXPECT_EQ(refused.error().reason(), "write_failed");
    EXPECT_EQ(errno_of(write_all(-1, "a")), EBADF);
}

}  // namespace
}  // namespace quire

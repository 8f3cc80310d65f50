// Fd: owns a file descriptor and closes it at the end of its life.
//
// Errors of close() are not reported: a writer that must know that its bytes are stored calls
// fsync() before. For one thread at a time, like an integer.
#pragma once

#include <utility>

#include <unistd.h>

namespace quire {

class Fd {
public:
    // No descriptor: get() is -1 and the bool is false.
    Fd() = default;
    // Takes ownership. A negative number, as a failed open() returns, means no descriptor.
    explicit Fd(int fd) : fd_(fd) {}
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }

    // For system calls. The number is not to be closed by the caller or kept beyond the object.
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    // Gives up the descriptor without closing it.
    int release() { return std::exchange(fd_, -1); }
    // Closes the descriptor, if there is one. The object can take another one by assignment then.
    void reset() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    int fd_ = -1;
};

}  // namespace quire

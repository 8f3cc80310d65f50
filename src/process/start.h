// Start: from here to a program that runs, for the files of this room that run programs.
//
// The child gets its directory, its streams, no signal blocked or ignored, a process group of its
// own and its confinement. It is killed when the thread that started it ends.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include "base/result.h"

namespace quire::process {

class Cage;
struct Program;

// A file descriptor that is closed when it goes.
class Descriptor {
public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    int get() const { return fd_; }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    int fd_;
};

// What the child has as its standard streams; none of them is 0, 1 or 2.
struct Streams {
    int input = -1;  // -1 for nothing to read.
    int output = -1;
    int errors = -1;
};

// All is made ready before the fork: between that and the program only system calls are made.
class Start {
public:
    // `program` and `cage`, which may be null, outlive it.
    Start(const Program& program, Streams streams, const Cage* cage);

    // 0, or the errno of what failed on the way to the program. Blocks until it has begun.
    int spawn(pid_t& child) const;

private:
    int begin(pid_t parent) const;

    const std::string path_;
    const std::string directory_;
    const std::vector<char*> arguments_;
    const std::vector<char*> environment_;
    const Streams streams_;
    const Cage* const cage_;
};

// Whether a child of ours has ended; it is still to be waited for.
bool has_ended(pid_t child);
// Kills the group of a child that was not waited for, and waits for it: its status.
int kill_group(pid_t child);

// not_found "program_not_found", unavailable "cannot_run" {program}.
Failure cannot_run(const Program& program, int error);

}  // namespace quire::process

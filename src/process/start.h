// Start: begins a program, for the sources of this room that run programs.
//
// The child gets its directory, its streams, default signal handling, its own process group and its
// confinement. It is killed when the thread that started it ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include "base/result.h"

namespace quire::process {

class Cage;
struct Program;

// A file descriptor that is closed on destruction.
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

// A pipe between us and a child. Our end does not block.
struct Pipe {
    Descriptor ours = Descriptor(-1);
    Descriptor theirs = Descriptor(-1);
};
// Returns none if the system cannot make another pipe.
std::optional<Pipe> make_pipe(bool we_read);

// Writes what a program takes now of `rest`, and closes its input after the last byte or when the
// program does not read any more.
void write_some(Descriptor& input, std::string_view& rest);

// The words as exec() takes them. They must outlive it.
std::vector<char*> pointers(const std::vector<std::string>& words);

// The child's standard streams; none of them is 0, 1 or 2.
struct Streams {
    int input = -1;  // -1 means an empty input.
    int output = -1;
    int errors = -1;
};

// Prepares everything before the fork: between fork and exec only system calls are made.
class Start {
public:
    // `program` and `cage`, which may be null, must outlive it.
    Start(const Program& program, Streams streams, const Cage* cage);

    // Returns 0, or the errno of the step that failed. Blocks until the program has begun.
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

// Returns true if a child of ours has ended but was not waited for yet.
bool has_ended(pid_t child);
// Kills the group of a child that was not waited for, waits for it and returns its status.
int kill_group(pid_t child);

// The error not_found "program_not_found" or unavailable "cannot_run" {program}.
Failure cannot_run(const Program& program, int error);

}  // namespace quire::process

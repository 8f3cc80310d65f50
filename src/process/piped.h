// PipedProgram: a program that is spoken with while it runs, by pipes to its three streams. Like
// one of spawn.h it has its own environment and its own process group, no shell interprets any of
// it, and it is killed when the thread that started it ends.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "process/spawn.h"

namespace quire::process {

class PipedProgram {
public:
    // Errors: those of run_program().
    static Result<PipedProgram> start(const Program& program);
    PipedProgram(PipedProgram&&) noexcept;
    PipedProgram& operator=(PipedProgram&&) noexcept;
    PipedProgram(const PipedProgram&) = delete;
    PipedProgram& operator=(const PipedProgram&) = delete;
    ~PipedProgram();  // end(0).

    // Our ends. None of them blocks. -1 once they are closed.
    int input() const;  // To be written.
    int output() const;
    int errors() const;
    void close_output();
    void close_errors();

    // Whether the program itself has.
    bool has_ended() const;
    // Closes its input, which tells it to end; asks it by SIGTERM after half of `patience_ms`, and
    // at the end of that kills it and all else in its group. Returns when it has ended, with the
    // words for how: "exit code 3", "signal 9". Once.
    std::string end(std::int64_t patience_ms, const Clock& clock);

private:
    struct Body;
    explicit PipedProgram(std::unique_ptr<Body> body);
    std::unique_ptr<Body> body_;
};

}  // namespace quire::process

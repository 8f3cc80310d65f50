// PipedProgram: a program with pipes to its three streams, for a conversation while it runs. As in
// spawn.h it has its own environment and process group, no shell interprets anything, and it is
// killed when the thread that started it ends.
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
    ~PipedProgram();  // Calls end(0).

    // Our ends of the pipes. They do not block. -1 once they are closed.
    int input() const;  // For writing.
    int output() const;
    int errors() const;
    void close_output();
    void close_errors();

    // Returns true if the program itself has ended.
    bool has_ended() const;
    // Closes the program's input, which tells it to end; sends SIGTERM after half of `patience_ms`,
    // and at the end of it kills the program and its whole group. Returns after the end, with a
    // description: "exit code 3", "signal 9". Call once.
    std::string end(std::int64_t patience_ms, const Clock& clock);

private:
    struct Body;
    explicit PipedProgram(std::unique_ptr<Body> body);
    std::unique_ptr<Body> body_;
};

}  // namespace quire::process

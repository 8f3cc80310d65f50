// BackgroundCommands: commands that run on while their callers do something else. Each command has its own
// stage, and its changes pass the rules when it has ended (command_runner.h). Its output can be read while
// it runs. The output is also a block of the conversation "shell" (output_block.h); the block's id is the
// process id.
//
// Any thread may call. Each reply is called exactly once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_words.h"
#include "base/function.h"
#include "kernel/commands/command_result.h"
#include "kernel/commands/command_runner.h"
#include "kernel/core/caller.h"

namespace quire::kernel {

// A signal that ends a background command. The command may handle TERM and INT, and its changes are
// judged when it has ended. KILL ends it at once and discards its changes.
enum class EndSignal { term, interrupt, kill };
constexpr auto words_of(EndSignal) {
    return word_table("TERM", "INT", "KILL");
}

// The present state of a background command.
struct BackgroundState {
    std::string process_id;  // Also the id of its output block.
    std::string command;
    std::int64_t started_ms = 0;  // Milliseconds since 1970.
    bool running = false;
    std::optional<int> exit_code = {};
    // Set when the command has ended: its run, or the error that stopped it from being judged.
    std::shared_ptr<const Result<CommandRun>> ended = nullptr;
};

struct BackgroundOutput {
    BackgroundState state;
    std::string content;
    std::size_t first_line =
        0;  // The number of the content's first line, from 0. Later than requested if that line is dropped.
    std::size_t line_count = 0;  // Counts all lines that were printed.
};

class BackgroundCommands {
public:
    // The most commands that run at once, and the most ended commands that are remembered.
    static constexpr std::size_t kMostRunning = 8;
    static constexpr std::size_t kMostEnded = 32;

    struct Parts {
        CommandRunner& runner;
        Kernel& kernel;
        Clock& clock;
    };
    // The parts outlive it and every command.
    explicit BackgroundCommands(Parts parts);
    ~BackgroundCommands();

    // Starts a command, and answers when it has begun. If the changes of an earlier run of it wait for a
    // person who has approved them, they are committed, and the answer is the earlier process. Errors:
    // those of CommandRunner::run(); unavailable "in_flight_limit" {limit}.
    void spawn(Caller by, CommandOrder what, Reply<BackgroundState> reply);
    // Answers the kept output, from `from_line` on or all of it. The output of a command of an earlier
    // kernel is read from its block. Errors: not_found "invalid_reference".
    void output(Caller by, std::string process_id, std::optional<std::size_t> from_line,
                Reply<BackgroundOutput> reply);
    // Sends a signal to the command and everything it started. Answers when the command has ended, or
    // after two seconds. Does nothing if the command has ended already. Only its own actor or a person
    // may end a command. Errors: not_found "invalid_reference".
    void kill(Caller by, std::string process_id, EndSignal signal, Reply<BackgroundState> reply);
    // Lists the caller's commands, or the named one, oldest first. A person sees everybody's. Errors:
    // those of kill().
    Result<std::vector<BackgroundState>> status(const Caller& by,
                                                const std::optional<std::string>& process_id) const;
    std::size_t running() const;
    // Waits until the commands have ended, once the runner is stopped. No command begins after it.
    void wait();

private:
    struct Process;
    struct Body;
    const std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel

// BackgroundCommands: commands that run on while their callers do something else. Each has a stage of its
// own, and its changes pass the rules when it has ended (command_runner.h); what it prints can be read
// meanwhile, and is in a block of the conversation "shell" (output_block.h), whose id is the process's.
//
// Any thread. Replies come exactly once.
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

// A way of ending a command in the background. TERM and INT it may take as it likes, and what it has
// changed is judged when it ends; KILL ends it, and discards that.
enum class EndSignal { term, interrupt, kill };
constexpr auto words_of(EndSignal) {
    return word_table("TERM", "INT", "KILL");
}

// A command in the background as it is now.
struct BackgroundState {
    std::string process_id;  // And its block's.
    std::string command;
    std::int64_t started_ms = 0;  // Since 1970.
    bool running = false;
    std::optional<int> exit_code = {};
    // Set when it has ended: its changes and their fate, or why that cannot be told.
    std::shared_ptr<const Result<CommandRun>> ended = nullptr;
};

struct BackgroundOutput {
    BackgroundState state;
    std::string content;
    std::size_t first_line = 0;  // The content's, from 0. Later than asked for if that is gone.
    std::size_t line_count = 0;  // All that were printed.
};

class BackgroundCommands {
public:
    // Those that run at once; and those that have ended and are still known.
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

    // Starts a command, and answers when it has begun. Where its changes of an earlier run wait for a
    // person, they are committed if the person has approved, and the process is the earlier one. Errors:
    // those of CommandRunner::run(); unavailable "in_flight_limit" {limit}.
    void spawn(Caller by, CommandOrder what, Reply<BackgroundState> reply);
    // Answers the text that it printed, from the line on or all that is kept. A command of an
    // earlier kernel has its block's text. Errors: not_found "invalid_reference".
    void output(Caller by, std::string process_id, std::optional<std::size_t> from_line,
                Reply<BackgroundOutput> reply);
    // Sends a signal to the command and all that it started, and answers when it has ended, or after two
    // seconds. One that has ended stays as it is. Errors: not_found "invalid_reference" also for another
    // actor's command, which only a person may end.
    void kill(Caller by, std::string process_id, EndSignal signal, Reply<BackgroundState> reply);
    // The caller's commands, or everybody's for a person, oldest first; or the one. Errors: as kill().
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

// Command: what the command line says about one command, and what it does.
//
// Each command has a source of its own, NAME_command.cc, with its help, its options and its work;
// those that are made from a tool's operations share operation_commands.cc.
// command_list.cc lists the commands, program.cc builds the parser from that list, and
// completion_command.cc reads the shells' completions off the parser: a command is described once.
//
// A run function returns an exit code when it has said all there is to say, and an error when the
// program is to print it. Results go to standard output, everything else to standard error.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/settings/workspace.h"

namespace CLI {
class App;
}

namespace quire::cli {

// Exit codes.
constexpr int kDone = 0;
constexpr int kRefused = 1;  // The command failed; standard error says why and what to do.
constexpr int kUsage = 2;    // The command line is wrong.

// The part that the workspace has in a command. For `nothing` program.cc looks for no workspace;
// for `looks` CommandClient::attach() works on a copy where the workspace cannot be written or has
// no state yet.
enum class Touches {
    nothing,  // The command has none, or one of its own.
    looks,    // The command only looks, and makes nothing where there is nothing.
    writes,
};

// The options that every command takes. They come from the command line, then from the
// environment, and otherwise from where and by whom the command is run.
struct Globals {
    std::string workspace = {};    // The directory; found by find_workspace() where none is named.
    bool workspace_named = false;  // The command line or the environment names the workspace.
    std::vector<PassedOver> passed_over = {};  // The walk did not take them.
    std::string actor = {};
    bool actor_named = false;  // The command line or the environment names the actor.
    std::string profile = {};  // "" for the actor's own.
    bool json = false;
    std::string version = {};  // The program's.
    Touches touches = Touches::writes;

    // Returns the options for a command that reads structured answers itself: profile `model`
    // leaves out of them what the call says already.
    Globals with_whole_answers() const {
        Globals whole = *this;
        whole.profile = "full";
        return whole;
    }
};

// Runs a command whose options are parsed: an exit code, or an error for standard error (kRefused).
using CommandRun = std::function<Result<int>(const Globals&)>;
// Adds a command's options to its parser; the function that it returns runs the command later.
using CommandAction = std::function<CommandRun(CLI::App&)>;

// One command, or a subcommand.
struct Command {
    std::string_view name;
    std::string_view about;     // One sentence, for --help.
    std::string_view example;   // A command line that works.
    CommandAction action = {};  // None: one of the subcommands has to be named.
    std::vector<Command> subcommands = {};
    bool hidden = false;  // Not in --help and the completions.
    Touches touches = Touches::writes;
    // Programs speak through the command, and act as agent:local unless they say otherwise. Other
    // commands are a person's, who acts as human:LOGIN.
    bool is_for_programs = false;
};

// The action of a command whose options are an `Options`, filled by `add_options`.
template <class Options>
CommandAction action_with(void (*add_options)(CLI::App&, Options&),
                          Result<int> (*run)(const Globals&, const Options&)) {
    return [=](CLI::App& app) -> CommandRun {
        const auto options = std::make_shared<Options>();
        add_options(app, *options);
        return [=](const Globals& globals) { return run(globals, *options); };
    };
}
// The action of a command that has no options of its own.
inline CommandAction action_of(Result<int> (*run)(const Globals&)) {
    return [=](CLI::App&) -> CommandRun { return run; };
}

}  // namespace quire::cli

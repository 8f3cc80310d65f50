// Shell completions, read off the parser: the commands, their options, and what a value may be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace quire::cli {

// The words that a shell may offer for an option's value or an argument.
struct CompletedValue {
    bool files = false;
    bool directories = false;
    std::vector<std::string> words = {};
};

// An option under all its names.
struct CompletedOption {
    std::vector<std::string> names;  // "-w" and "--workspace".
    CompletedValue value = {};
};

// A command as completions offer it.
struct CompletedCommand {
    std::string name;
    std::string description;
    std::vector<CompletedOption> options;
    std::vector<std::string> subcommands = {};
    CompletedValue argument = {};
};

// The commands that --help shows, each with the options of its subcommands and those of `program`.
std::vector<CompletedCommand> completed_commands(const CLI::App& program);

// The script for "bash" or "zsh"; "" for an unknown shell.
std::string completion_script(std::string_view shell,
                              const std::vector<CompletedCommand>& commands);

}  // namespace quire::cli

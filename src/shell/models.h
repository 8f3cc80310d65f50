// Models: what the commands that people use do with their operands. A command without a model is
// unpredictable, and so is an option that its model does not know.
//
// A model reads options as the command does, from a list in getopt's notation. The families are in
// files of their own: models_files.cc, models_text.cc, models_run.cc, models_tools.cc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/run.h"

namespace quire::shell {

// One command that is to be run.
// References into the run, valid while the model runs. `name` is without the directory of a system
// program.
struct Call {
    Run& run;
    const std::string& name;
    const std::vector<Arg>& arguments;
    const Input& input;

    // Warns that what the command changes is not predicted.
    void unpredictable(std::string why) const;
};

// The options and operands of a call.
struct Options {
    // Keyed by letter, or by long name where that has no letter. An option without a value has
    // nullopt.
    std::multimap<std::string, std::optional<Arg>> given;
    std::vector<Arg> operands;

    bool has(std::string_view name) const { return given.contains(std::string(name)); }
    // The value of the last of these; null if none was given with a value.
    const Arg* value(std::string_view name) const;
};

// `letters` as getopt takes them: "ab:c::"; `names` as "all output= level=?", where a letter behind a
// colon is what the name stands for: "output=:o". False, after a warning, for an option that is not in
// them. With `stops` the first operand ends the options, as for wrappers.
bool read_options(const Call& call, std::string_view letters, std::string_view names, Options& out,
                  bool stops = false);

// Runs the model of the command, or warns "unpredictable_command" that there is none. A program
// with a directory in its name is known only in /bin, /usr/bin, /sbin and /usr/sbin.
void run_model(const Call& call);

// A family's model of a name; null if it has none.
using Model = void (*)(const Call&);
Model file_model(std::string_view name);
Model text_model(std::string_view name);
Model running_model(std::string_view name);
Model tool_model(std::string_view name);

// The path of `name` within a directory, for each of the directory's texts.
Arg within(const Arg& directory, const std::string& name);
// The operand with a suffix.
Arg with_suffix(const Arg& operand, std::string_view suffix);

}  // namespace quire::shell

// A person's editor, as git and others start it.
#pragma once

#include <string>

#include "base/result.h"

namespace quire::cli {

struct Editor {
    std::string variable;  // What names it: "VISUAL" or "EDITOR".
    std::string command;   // For the shell, to which the file's path is added.
};
// $VISUAL, else $EDITOR, else "vi".
Editor chosen_editor();

enum class Returned {
    waited,
    // Within two seconds, and the file was not written: it may be open in a window of a program
    // that does not let its caller wait. `true` and `:`, which open nothing, are not taken for one.
    at_once,
};

// Runs the command on the file and waits for its end; the terminal is the editor's meanwhile, its
// Ctrl-C with it. Errors: unavailable "editor_failed" where it cannot be started or does not end
// with 0.
Result<Returned> run_editor(const std::string& command, const std::string& path);

}  // namespace quire::cli

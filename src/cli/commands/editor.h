// A person's editor, as git and others start it.
#pragma once

#include <string>

#include "base/result.h"

namespace quire::cli {

struct Editor {
    std::string variable;  // The variable that names it: "VISUAL" or "EDITOR".
    std::string command;   // For the shell; the file's path is appended.
};
// $VISUAL, else $EDITOR, else "vi". An empty variable counts as unset.
Editor chosen_editor();

// How the editor came back.
enum class Returned {
    waited,
    // It returned within two seconds without writing the file, which may now be open in a window
    // of a program that does not wait. `true` and `:`, which open nothing, do not count as such.
    at_once,
};

// Runs the command on the file and waits for its end. Meanwhile the editor owns the terminal and
// its Ctrl-C. Errors: unavailable "editor_failed" if the editor cannot be started or ends with
// another code than 0.
Result<Returned> run_editor(const std::string& command, const std::string& path);

}  // namespace quire::cli

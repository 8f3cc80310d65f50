// A person's editor, as git and others start it.
#pragma once

#include <string>

#include "base/result.h"

namespace quire::cli {

// $VISUAL, else $EDITOR, else "vi": a command for the shell, to which the file's path is added.
std::string editor_command();

// Runs the command on the file and waits for its end; the terminal is the editor's meanwhile, its
// Ctrl-C with it. Errors: unavailable "editor_failed" where it cannot be started or does not end
// with 0.
Result<void> run_editor(const std::string& command, const std::string& path);

}  // namespace quire::cli

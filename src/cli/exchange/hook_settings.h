// The settings files that make coding agents call `quire hook`. Each agent has a file in the project; our
// entries stand there beside those of others. Pure functions over texts.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace quire::cli {

// The path of the agent's file from the project's directory; "" if `quire hook` does not support the
// agent. `agent` is the name of an McpClient.
std::string_view hooks_file(std::string_view agent);

// Adds our hooks, which run `program`, to the file's text; "" stands for no file. An entry of ours that
// runs another program is replaced. Errors: those of jsonc_edit.h.
Result<std::string> with_hooks(std::string_view agent, std::string_view text,
                               const std::string& program);
// Removes our hooks from the text. Returns "" if nothing is left.
Result<std::string> without_hooks(std::string_view agent, std::string_view text);

}  // namespace quire::cli

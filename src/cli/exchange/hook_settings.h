// The settings by which coding agents call `quire hook`: for each agent a file in the project, and in it
// our entry beside those of others. Pure: texts in, texts out.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace quire::cli {

// The file with the agent's hooks, from the project's directory; "" for an agent without hooks that
// `quire hook` knows. `agent` is the word of an McpClient.
std::string_view hooks_file(std::string_view agent);

// The file with our hooks, which run `program`. "" is a file that is not there. An entry of ours that
// runs another program is replaced. Errors: those of jsonc_edit.h.
Result<std::string> with_hooks(std::string_view agent, std::string_view text,
                               const std::string& program);
// The file without our hooks; "" if nothing is left of it.
Result<std::string> without_hooks(std::string_view agent, std::string_view text);

}  // namespace quire::cli

// quire init: writes quire.toml where there is none, and says how to go on.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "base/write_all.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/settings/config.h"
#include "json/json.h"

namespace quire::cli {
namespace {

std::string this_program() {
    std::error_code unknown;
    return std::filesystem::read_symlink("/proc/self/exe", unknown).string();
}

// The entry for quire in the settings file of an MCP client.
Map client_settings(const std::string& workspace) {
    return {{"mcpServers", Map{{"quire", Map{{"command", this_program()},
                                             {"args", List{"mcp", "--workspace", workspace}}}}}}};
}

std::string next_steps(const std::string& workspace) {
    return cat("Give the workspace to an agent. Claude Code:\n  claude mcp add quire -- ",
               for_shell(this_program()), " mcp --workspace ", for_shell(workspace),
               "\nAny other MCP client, in its settings file:\n  ",
               json::write(client_settings(workspace)),
               "\nThen see who did what:\n  quire log --workspace ", for_shell(workspace), "\n");
}

Result<int> run_init(const Globals& globals) {
    std::error_code missing;
    const auto workspace = std::filesystem::canonical(globals.workspace, missing);
    if (missing) {
        complain(cat("there is no directory ", globals.workspace, "; nothing was written"));
        return kRefused;
    }
    const std::string path = (workspace / "quire.toml").string();
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file) {
        const bool there = errno == EEXIST;
        complain(there ? cat(path, " exists and was left unchanged; remove it to start over")
                       : cat("cannot write ", path, ": ", std::strerror(errno)));
        if (there && !globals.json) print(next_steps(workspace.string()));
        return kRefused;
    }
    const Result<void> written = write_all(file.get(), default_config());
    if (!written || ::fsync(file.get()) != 0) {
        complain(cat("cannot write ", path, ": ",
                     written ? std::strerror(errno) : written.error().message(),
                     "; the file was removed again"));
        ::unlink(path.c_str());
        return kRefused;
    }
    if (globals.json) {
        Map made = client_settings(workspace.string());
        made.append("workspace", workspace.string());
        made.append("config", path);
        return output_json(made);
    }
    return output(cat(coloured(cat("Wrote ", path, ":"), Colour::green), "\n\n", default_config(),
                      "\n", next_steps(workspace.string())));
}

}  // namespace

Command init_command() {
    return {.name = "init",
            .about = "Write a commented quire.toml with sensible rules, and print it",
            .example = "quire init --workspace ~/project",
            .action = action_of(run_init)};
}

}  // namespace quire::cli

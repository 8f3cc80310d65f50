#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "base/cat.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/terminal.h"
#include "json/json.h"
#include "server/fd.h"

namespace quire::cli {
namespace {

bool write_whole(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(fd) == 0;
}

std::string next_steps(const std::string& workspace) {
    std::error_code unknown;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
    const Value settings =
        Map{{"mcpServers", Map{{"quire", Map{{"command", program},
                                             {"args", List{"mcp", "--workspace", workspace}}}}}}};
    return cat("Give the workspace to an agent. Claude Code:\n  claude mcp add quire -- ", program,
               " mcp --workspace ", workspace, "\nAny other MCP client, in its settings file:\n  ",
               json::write(settings), "\nThen see who did what:\n  quire log --workspace ",
               workspace, "\n");
}

}  // namespace

int init(const Globals& globals) {
    std::error_code missing;
    const auto workspace = std::filesystem::canonical(globals.workspace, missing);
    if (missing) {
        complain(cat("there is no directory ", globals.workspace, "; nothing was written"));
        return kRefused;
    }
    const std::string path = (workspace / "quire.toml").string();
    const server::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file) {
        const bool there = errno == EEXIST;
        complain(there
                     ? cat(path, " is already there and was left as it is; remove it to start over")
                     : cat("cannot write ", path, ": ", std::strerror(errno)));
        if (there) print(next_steps(workspace.string()));
        return kRefused;
    }
    if (!write_whole(file.get(), default_config())) {
        complain(cat("cannot write ", path, ": ", std::strerror(errno), "; it was removed again"));
        ::unlink(path.c_str());
        return kRefused;
    }
    const std::string text = cat(coloured(cat("Wrote ", path, ":"), Colour::green), "\n\n",
                                 default_config(), "\n", next_steps(workspace.string()));
    return print(text) ? kDone : kRefused;
}

}  // namespace quire::cli

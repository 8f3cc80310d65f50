// Parts of the commands for a bad day: backup, salvage, restore and fsck.
#pragma once

#include <string>
#include <string_view>

#include "base/value.h"
#include "cli/commands/command_client.h"

namespace CLI {
class App;
}

namespace quire::cli {

// The command's one argument.
struct RecoveryTarget {
    std::string path;
};
void add_file(CLI::App& app, RecoveryTarget& target);
void add_directory(CLI::App& app, RecoveryTarget& target);

// The path as a process with another working directory has to be told it.
std::string absolute_path(const std::string& path);

// Asks the workspace's kernel if one runs, and otherwise works on the store itself, without starting
// one: offline() → Result<Value>. Creates nothing in a workspace without a store. Errors: those of
// the request or of offline(); an error of attaching other than "no_kernel" is passed on, since a
// kernel that cannot be reached may still hold the store.
template <class Offline>
Result<Value> with_or_without_kernel(const Globals& globals, bool has_state,
                                     std::string_view method, Map params, Offline offline) {
    if (has_state) {
        Result<CommandClient> client = CommandClient::attach(globals, false);
        if (client) return client->request(method, std::move(params));
        if (client.error().reason() != "no_kernel") return Failure(client.error());
    }
    return offline();
}

}  // namespace quire::cli

// CommandClient: one of our commands as a client of the workspace's kernel. One request at a time.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/value.h"
#include "cli/commands/commands.h"
#include "server/local_client.h"

namespace quire::cli {

// The most bytes of JSON that a request should bring: the kernel takes lines of 64 MiB
// (server/local_socket.h), and there is more in them.
inline constexpr std::size_t kMostInRequest = std::size_t{63} << 20;

class CommandClient {
public:
    // Attaches, starting a kernel where none runs and `start` allows. Errors: those of
    // server::attach().
    static Result<CommandClient> attach(const Globals& globals, bool start = true);

    // The methods are those of server/command_session.h. Errors: as of
    // server::LocalClient::request().
    Result<Value> request(std::string_view method, Map params);
    // A tool call: its structured result, or the error of a refusal.
    Result<Value> call(std::string_view tool, Value arguments);

    int kernel_pid() const { return client_.kernel_pid(); }

private:
    explicit CommandClient(server::LocalClient client) : client_(std::move(client)) {}

    server::LocalClient client_;
};

}  // namespace quire::cli

// CommandClient: a command as a client of the workspace's kernel. One request at a time.
//
// Every command is a client like others: it speaks to the kernel over the workspace's socket, as
// its actor, and the kernel decides what that actor may do. Refusals thus are the same as those of
// agents.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/value.h"
#include "cli/commands/command.h"

namespace quire::server {
class LocalClient;
}

namespace quire::cli {

class LookingKernel;

// A connection to the kernel, closed at the end of its life.
class CommandClient {
public:
    CommandClient(CommandClient&&) noexcept;
    CommandClient& operator=(CommandClient&&) noexcept;
    ~CommandClient();

    // Attaches to the kernel, and starts one if none runs and `start` allows it. Errors: those of
    // server::LocalClient::attach().
    //
    // A command that only looks leaves a workspace as it is of which nothing is kept yet, or whose
    // store cannot be written: where no kernel runs it looks at a copy (LookingKernel).
    static Result<CommandClient> attach(const Globals& globals, bool start = true);

    // Calls a method of server/command_session.h. Errors: those of server::LocalClient::request().
    // It waits two minutes at most.
    Result<Value> request(std::string_view method, Map params = {});
    // Calls a tool. Returns its structured result, or the error of a refusal. A tool of any profile
    // may be called. It waits about an hour, the longest that a mounted server may take.
    Result<Value> call(std::string_view tool, Value arguments);
    // Calls a tool, and returns also the text that the tool wrote for a reader.
    struct Called {
        Value structured;
        std::string text;
    };
    Result<Called> call_for_reader(std::string_view tool, Value arguments);

    // The process that serves this client.
    int kernel_pid() const;
    // The most bytes of JSON that a command puts into one request: a line holds a little more.
    std::size_t most_in_request() const;

private:
    CommandClient(server::LocalClient client, std::unique_ptr<LookingKernel> kernel);

    std::unique_ptr<LookingKernel> kernel_;  // None, but for a look at a copy.
    std::unique_ptr<server::LocalClient> client_;
};

// The kernel that runs here; none where none does. Creates nothing. Errors: those of attach().
std::optional<Result<CommandClient>> running_kernel(const Globals& globals);

// Attach, make one request or call one tool, and leave. Errors: those of the functions above.
Result<Value> request_once(const Globals& globals, std::string_view method, Map params = {});
Result<Value> call_once(const Globals& globals, std::string_view tool, Value arguments);

}  // namespace quire::cli

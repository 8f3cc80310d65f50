// CommandClient: one of our commands as a client of the workspace's kernel. One request at a time.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "cli/commands.h"
#include "server/fd.h"

namespace quire::cli {

class CommandClient {
public:
    // Attaches, starting a kernel where none runs and `start` allows. Errors: those of
    // server::attach().
    static Result<CommandClient> attach(const Globals& globals, bool start = true);

    // The methods are those of server/command_session.h. Errors: what was answered; unavailable
    // "fate_unknown" when the kernel went before it answered.
    Result<Value> request(std::string_view method, Map params);
    // A tool call: its structured result, or the error of a refusal.
    Result<Value> call(std::string_view tool, Value arguments);

    int kernel_pid() const { return pid_; }

private:
    CommandClient(server::Fd socket, int pid) : socket_(std::move(socket)), pid_(pid) {}
    Result<std::string> read_line();

    server::Fd socket_;
    int pid_ = 0;
    std::string unread_;
};

}  // namespace quire::cli

// WorkspacePrompts: what a person can start a conversation with, told from the workspace's log, and
// the values that complete their arguments.
//
//   undo(target?)           the caller's last changes, with the calls that take them back
//   approve(approval_id?)   what waits for a person, with the commands that answer it
//   handoff()               the last changes, and what is dirty, conflicting, running or waiting
//   recall(agent?)          what `quire context render` prints for the agent; WorkspaceService reads it
//
// A prompt names only what its caller may see. Names are others' words, so they are escaped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/core/caller.h"
#include "kernel/core/kernel.h"
#include "kernel/files/file_calls.h"
#include "mcp/service.h"
#include "tools/tool.h"

namespace quire::server {

inline constexpr std::string_view kRecall = "recall";

class WorkspacePrompts {
public:
    // Both outlive every reply.
    WorkspacePrompts(kernel::Kernel& kernel, kernel::FileCalls& files)
        : kernel_(kernel), files_(files) {}

    // Every client is shown these, in this order.
    static std::vector<mcp::Prompt> all();
    // One of all() but recall, for the session's caller. Errors: those of the kernel.
    void get(const tools::Session& session, const std::string& name, const Map& arguments,
             Reply<mcp::PromptText> reply) const;
    // The values of an argument that begin with what is typed.
    void complete(const kernel::Caller& by, const mcp::Typing& typing,
                  Reply<mcp::Completions> reply) const;

private:
    void undo(const tools::Session& session, const std::string& target,
              Reply<mcp::PromptText> reply) const;
    void approve(const kernel::Caller& by, const std::string& approval_id,
                 Reply<mcp::PromptText> reply) const;
    void handoff(const kernel::Caller& by, Reply<mcp::PromptText> reply) const;

    kernel::Kernel& kernel_;
    kernel::FileCalls& files_;
};

}  // namespace quire::server

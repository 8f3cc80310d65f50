// WorkspaceService: serves a workspace to one MCP client: its tools, its memory, blocks and files
// as resources, and prompts about it. One for each client, made with its session. Reading is
// admitted, logged and limited by rules like the call of the tool that would read the same, so a
// resource is no way around a rule.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/core/kernel.h"
#include "kernel/files/file_calls.h"
#include "mcp/service.h"
#include "policy/actor.h"
#include "server/memory_resources.h"
#include "server/resource_watch.h"
#include "server/workspace_prompts.h"
#include "tools/tool.h"

namespace quire::kernel {
class Sources;
}

namespace quire::server {

class WorkspaceService final : public mcp::Service {
public:
    // Says if a tool that the session's profile lacks is looked for in the other profiles.
    enum class Reach { own_profile, any_profile };

    // The parts of a workspace that are served. They outlive the service's replies.
    struct Parts {
        tools::Registry& registry;
        kernel::Kernel& kernel;
        kernel::FileCalls& files;
        kernel::MemoryCalls& memory;
        const kernel::Sources& sources;
    };
    // Attaches `session` to the kernel for as long as this lives.
    WorkspaceService(Parts parts, tools::Session session, Reach reach);
    // From now on `person` is asked in the client when a call needs an approval. Before the first
    // call.
    void let_answer(policy::Actor person);
    // The profile of a client that named none: what the settings say whenever it is needed.
    using ProfileSource = std::function<tools::Profile()>;
    // Before the first call, like let_answer().
    void follow_profile(ProfileSource now);
    WorkspaceService(const WorkspaceService&) = delete;
    WorkspaceService& operator=(const WorkspaceService&) = delete;
    ~WorkspaceService() override;

    mcp::Approver* approver() override { return approver_.get(); }
    tools::ToolList tools() const override;
    bool has_changing_tools() const override;
    mcp::Guidance guidance() const override;
    void call(std::string name, Value arguments, std::stop_token cancelled,
              Reply<tools::ToolResult> reply) override;

    std::vector<mcp::ResourceTemplate> resource_templates() const override;
    // The sources, then memory, then blocks and opened files, then the files that were not opened yet. A cursor is
    // "memory:" and the last URI of memory, the last block's id, or "file:" and the last file's path.
    void list_resources(std::string cursor, std::stop_token cancelled,
                        Reply<mcp::ResourcePage> reply) override;
    // quire://sources is source_report(); block://ID is a block's text; file:///PATH a file's as it is in the workspace, read in where
    // it is not loaded; MemoryResources says what the others are.
    void read_resource(std::string uri, std::stop_token cancelled,
                       Reply<mcp::ResourceText> reply) override;

    // It is read once, like any resource, to see that it is there and may be read.
    void follow_resource(std::string uri, std::stop_token cancelled, ResourceTold told,
                         Reply<void> reply) override;
    void unfollow_resource(const std::string& uri) override { watch_->unfollow(uri); }

    std::vector<mcp::Prompt> prompts() const override { return WorkspacePrompts::all(); }
    void get_prompt(std::string name, Map arguments, std::stop_token cancelled,
                    Reply<mcp::PromptText> reply) override;
    void complete(mcp::Typing typing, std::stop_token cancelled,
                  Reply<mcp::Completions> reply) override;

private:
    // Returns true if the rules leave the caller this tool, or this operation of it.
    bool is_shown(std::string_view tool, std::string_view operation = {}) const;
    void read_block(std::string uri, const kernel::Caller& by,
                    Reply<kernel::WholeText> reply) const;
    void read_file(std::string path, const kernel::Caller& by,
                   Reply<kernel::WholeText> reply) const;
    void read_sources(const kernel::Caller& by, Reply<std::string> reply) const;
    void read_memory(std::string uri, const kernel::Caller& by, Reply<std::string> reply) const;
    // The prompt `recall`: the text of the resource context://AGENT. Errors: invalid_argument
    // "invalid_arguments" if a person names no agent; those of reading the resource.
    void recall(std::string agent, std::stop_token cancelled, Reply<mcp::PromptText> reply);
    // The session's caller, for one request.
    kernel::Caller caller(std::stop_token cancelled) const;
    // The profile in use: the session's, or what the source says now.
    tools::Profile profile() const;
    // The first profile that has the tool, as far as the reach goes.
    tools::Profile profile_with(std::string_view tool) const;
    std::string_view reading_tool() const;  // Block resources are read as calls of this tool.

    tools::Registry& registry_;
    kernel::Kernel& kernel_;
    kernel::FileCalls& files_;
    const kernel::Sources& sources_;
    const WorkspacePrompts prompts_;
    const MemoryResources memory_;
    tools::Session session_;
    Reach reach_;
    ProfileSource profile_now_;  // None for a client that named its profile.
    std::unique_ptr<mcp::Approver> approver_;
    // Shared, because the replies of the kernel to follow_resource() hold it.
    std::shared_ptr<ResourceWatch> watch_;
};

// The type for the name's extension; "text/plain" for an unknown one.
std::string_view mime_type_of(std::string_view path);

}  // namespace quire::server

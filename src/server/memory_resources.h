// MemoryResources: memory as resources of MCP.
//
//   memory://OWNER/LABEL   one block, as the operation view of `context` renders it
//   context://AGENT        all that belongs into an agent's context, as quire context render does
//
// OWNER is an actor, "agent:ada"; AGENT is an agent's name, or the actor. Parts are percent-encoded
// but for letters, digits and "._~:-/"; the first '/' ends the owner. An agent reads its own
// context only, everybody else that of any agent. Values with references only, cheap to copy: a
// reply that comes late keeps a copy. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "kernel/core/caller.h"
#include "kernel/memory/owned_label.h"
#include "mcp/service.h"

namespace quire::kernel {
class Kernel;
class MemoryCalls;
}  // namespace quire::kernel

namespace quire::tools {
class Registry;
}

namespace quire::server {

class MemoryResources {
public:
    // All of them outlive every reply.
    MemoryResources(kernel::Kernel& kernel, kernel::MemoryCalls& memory,
                    const tools::Registry& registry)
        : kernel_(kernel), memory_(memory), registry_(registry) {}

    static std::vector<mcp::ResourceTemplate> templates();
    // Returns true for a URI of one of the two schemes.
    static bool is_one(std::string_view uri);

    // All that the caller may read, by URI. O(blocks).
    void list(const kernel::Caller& by, Reply<std::vector<mcp::Resource>> reply) const;
    // Errors: not_found "invalid_reference" for what is not there or not for the caller; those of
    // agent_context() and MemoryCalls::view().
    void read(const kernel::Caller& by, const std::string& uri, Reply<std::string> reply) const;
    // The names of agents whose context the caller may read, of those that begin with what is typed.
    void complete_agent(const kernel::Caller& by, std::string typed,
                        Reply<mcp::Completions> reply) const;
    // The values of a template's variable that begin with what is typed.
    void complete(const kernel::Caller& by, mcp::Typing typing,
                  Reply<mcp::Completions> reply) const;

private:
    void read_context(const kernel::Caller& by, const policy::Actor& agent, const std::string& uri,
                      Reply<std::string> reply) const;

    kernel::Kernel& kernel_;
    kernel::MemoryCalls& memory_;
    const tools::Registry& registry_;
};

// The URI of a block, and back; none for a text that is no such URI.
std::string uri_of_memory(const kernel::OwnedLabel& block);
std::optional<kernel::OwnedLabel> memory_of_uri(std::string_view uri);
// The URI of an agent's context, and back.
std::string uri_of_context(const policy::Actor& agent);
std::optional<policy::Actor> agent_of_uri(std::string_view uri);

}  // namespace quire::server

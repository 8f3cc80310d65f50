// A block is found by its owner and label like in any call, so a block that the caller may not see
// is refused in the words of one that is not there: a client cannot find out which labels exist.
// Every list is made anew from MemoryCalls::list(), O(blocks that the caller sees) and a sort.
#include "server/memory_resources.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "kernel/core/kernel.h"
#include "kernel/memory/memory_calls.h"
#include "server/agent_context.h"
#include "text/escape.h"
#include "tools/tool.h"

namespace quire::server {
namespace {

using kernel::MemoryRow;
using kernel::OwnedLabel;
using policy::Actor;
using policy::ActorKind;

constexpr std::string_view kMemoryScheme = "memory://";
constexpr std::string_view kContextScheme = "context://";
constexpr std::string_view kMemoryTemplate = "memory://{owner}/{+label}";
constexpr std::string_view kContextTemplate = "context://{agent}";
// A label may hold '/' and an owner ':', and both are kept readable in a URI. An owner holds no
// '/', so the first one ends it.
constexpr std::string_view kPlain = "._~:-/";
constexpr std::string_view kPlainText = "text/plain";

std::string encoded(std::string_view part) {
    return text::percent_encoded(part, kPlain);
}

// Bytes that are no UTF-8 could not be part of a label, nor be written into an answer.
std::optional<std::string> decoded(std::string_view part) {
    std::optional<std::string> out = text::percent_decoded(part);
    if (out && !utf8::is_valid(*out)) return std::nullopt;
    return out;
}

mcp::Resource resource_of(const MemoryRow& row) {
    mcp::Resource out;
    out.uri = uri_of_memory({row.owner, row.block.label});
    out.name = cat(row.owner.str(), "/", row.block.label);
    out.description =
        cat(name_of(row.type), " memory", row.description.empty() ? "" : ": ", row.description);
    out.mime_type = kPlainText;
    return out;
}

mcp::Resource context_of(const Actor& agent) {
    mcp::Resource out;
    out.uri = uri_of_context(agent);
    out.name = cat("context of ", agent.name);
    out.description = "Core memory, pinned working memory and the rules for tools";
    out.mime_type = kPlainText;
    return out;
}

// The agents whose contexts the caller may read: itself, or those that own memory.
std::set<Actor> agents_for(const Actor& by, const std::vector<MemoryRow>& rows) {
    if (by.kind == ActorKind::agent) return {by};
    std::set<Actor> out;
    for (const MemoryRow& row : rows) {
        if (row.owner.kind == ActorKind::agent) out.insert(row.owner);
    }
    return out;
}

Failure no_such_resource(const std::string& uri) {
    return fail(Errc::not_found, "invalid_reference",
                cat("there is no resource ", uri, " for you; resources/list names those there are"),
                {{"uri", uri}});
}

}  // namespace

std::string uri_of_memory(const OwnedLabel& block) {
    return cat(kMemoryScheme, encoded(block.owner.str()), "/", encoded(block.label));
}

std::optional<OwnedLabel> memory_of_uri(std::string_view uri) {
    if (!uri.starts_with(kMemoryScheme)) return std::nullopt;
    uri.remove_prefix(kMemoryScheme.size());
    const std::size_t slash = uri.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::optional<std::string> owner = decoded(uri.substr(0, slash));
    std::optional<std::string> label = decoded(uri.substr(slash + 1));
    if (!owner || !label || label->empty()) return std::nullopt;
    Result<Actor> actor = Actor::parse(*owner);
    if (!actor) return std::nullopt;
    return OwnedLabel{std::move(*actor), std::move(*label)};
}

std::string uri_of_context(const Actor& agent) {
    return cat(kContextScheme, encoded(agent.name));
}

// Both spellings are read, context://ada and context://agent:ada, but only agents have a context.
std::optional<Actor> agent_of_uri(std::string_view uri) {
    if (!uri.starts_with(kContextScheme)) return std::nullopt;
    const std::optional<std::string> name = decoded(uri.substr(kContextScheme.size()));
    if (!name) return std::nullopt;
    const bool is_actor = name->find(':') != std::string::npos;
    Result<Actor> agent = Actor::parse(is_actor ? *name : cat("agent:", *name));
    if (!agent || agent->kind != ActorKind::agent) return std::nullopt;
    return std::move(*agent);
}

std::vector<mcp::ResourceTemplate> MemoryResources::templates() {
    return {{std::string(kMemoryTemplate), "memory",
             "A memory block as a model reads it, by its owner (agent:ada) and label."},
            {std::string(kContextTemplate), "context",
             "An agent's core memory, pinned working memory and rules for tools, by its name."}};
}

bool MemoryResources::is_one(std::string_view uri) {
    return uri.starts_with(kMemoryScheme) || uri.starts_with(kContextScheme);
}

// Sorted by URI, because a cursor of the list is the last URI of a page: a block that is made or
// deleted between two pages moves no other.
void MemoryResources::list(const kernel::Caller& by,
                           Reply<std::vector<mcp::Resource>> reply) const {
    memory_.list(
        by, {},
        [actor = by.actor, reply = std::move(reply)](Result<kernel::MemoryList> listed) mutable {
            if (!listed) return reply(Failure(std::move(listed).error()));
            std::vector<mcp::Resource> out;
            for (const Actor& agent : agents_for(actor, listed->blocks))
                out.push_back(context_of(agent));
            for (const MemoryRow& row : listed->blocks) out.push_back(resource_of(row));
            std::ranges::sort(out, {}, &mcp::Resource::uri);
            reply(std::move(out));
        });
}

void MemoryResources::read(const kernel::Caller& by, const std::string& uri,
                           Reply<std::string> reply) const {
    if (const std::optional<OwnedLabel> block = memory_of_uri(uri)) {
        return memory_.view(by, block->str(), {},
                            [reply = std::move(reply)](Result<kernel::MemoryView> seen) mutable {
                                if (!seen) return reply(Failure(std::move(seen).error()));
                                reply(std::move(seen->rendered));
                            });
    }
    const std::optional<Actor> agent = agent_of_uri(uri);
    if (!agent || (by.actor.kind == ActorKind::agent && by.actor != *agent))
        return reply(no_such_resource(uri));
    read_context(by, *agent, uri, std::move(reply));
}

// The blocks are read in the agent's name, so that it is what the agent itself would be shown. An
// agent that has no context and never changed anything is unknown to a person who asks.
void MemoryResources::read_context(const kernel::Caller& by, const Actor& agent,
                                   const std::string& uri, Reply<std::string> reply) const {
    kernel::Caller as = by;
    as.actor = agent;
    agent_context(memory_, as, registry_.rules_for(agent), true,
                  [&kernel = kernel_, by, agent, uri,
                   reply = std::move(reply)](Result<std::vector<ContextPiece>> pieces) mutable {
                      if (!pieces) return reply(Failure(std::move(pieces).error()));
                      if (!pieces->empty() || by.actor == agent) return reply(joined(*pieces));
                      kernel.log(by, agent, 1,
                                 [uri, reply = std::move(reply)](
                                     Result<std::vector<kernel::LogEntry>> changes) mutable {
                                     if (!changes)
                                         return reply(Failure(std::move(changes).error()));
                                     if (changes->empty()) return reply(no_such_resource(uri));
                                     reply(std::string());
                                 });
                  });
}

void MemoryResources::complete_agent(const kernel::Caller& by, std::string typed,
                                     Reply<mcp::Completions> reply) const {
    memory_.list(by, {},
                 [actor = by.actor, typed = std::move(typed),
                  reply = std::move(reply)](Result<kernel::MemoryList> listed) mutable {
                     if (!listed) return reply(Failure(std::move(listed).error()));
                     std::set<std::string> names;
                     for (const Actor& agent : agents_for(actor, listed->blocks))
                         names.insert(agent.name);
                     reply(mcp::completions_of({names.begin(), names.end()}, typed));
                 });
}

void MemoryResources::complete(const kernel::Caller& by, mcp::Typing typing,
                               Reply<mcp::Completions> reply) const {
    if (typing.uri_template == kContextTemplate)
        return complete_agent(by, std::move(typing.value), std::move(reply));
    if (typing.uri_template != kMemoryTemplate) return reply(mcp::Completions{});
    memory_.list(
        by, {},
        [typing = std::move(typing),
         reply = std::move(reply)](Result<kernel::MemoryList> listed) mutable {
            if (!listed) return reply(Failure(std::move(listed).error()));
            std::set<std::string> values;
            for (const MemoryRow& row : listed->blocks)
                values.insert(typing.argument == "owner" ? row.owner.str() : row.block.label);
            reply(mcp::completions_of({values.begin(), values.end()}, typing.value));
        });
}

}  // namespace quire::server

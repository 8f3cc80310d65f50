// Service: what one MCP client is served, whatever protocol revision it speaks. Approver: who
// resolves approvals for the person in front of that client.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "base/value.h"
#include "policy/approval.h"
#include "tools/tool.h"

namespace quire::mcp {

// Any thread.
class Approver {
public:
    virtual ~Approver() = default;
    // The actor whose calls the approvals are for.
    virtual const policy::Actor& asker() const = 0;
    // Errors: those of kernel::ApprovalCalls::find().
    virtual Result<policy::Approval> find(const std::string& approval_id) = 0;
    // Resolves it in the person's name; the session is filled in. Errors: those of
    // kernel::ApprovalCalls::resolve(). The reply may come after this is gone.
    virtual void resolve(const std::string& approval_id, policy::Resolution with,
                         Reply<policy::Approval> reply) = 0;
};

// A block or a file that a client may read.
struct Resource {
    std::string uri;
    std::string name;
    std::string description;  // "" for none.
    std::string mime_type;
    std::uint64_t size = 0;  // Bytes.
};

// A part of the list of resources.
struct ResourcePage {
    std::vector<Resource> resources;
    std::string next_cursor;  // "" at the end.
};

struct ResourceText {
    std::string uri;
    std::string mime_type;
    std::string text;
};

// The form of URIs that a client may fill in.
struct ResourceTemplate {
    std::string uri_template;  // RFC 6570.
    std::string name;
    std::string description;
};

// The instructions for a client's model at the start of a session.
struct Guidance {
    std::vector<std::string> rules = {};  // The rules for its calls, in sentences.
    bool saves_edits = false;  // An accepted edit by the tool file is on the disk, without a save.
};

// A text that a person starts a conversation with: its name and its arguments, all of them strings.
struct Prompt {
    std::string name;
    std::string title;
    std::string description;
    struct Argument {
        std::string name;
        std::string description;
    };
    std::vector<Argument> arguments = {};  // Each may be left out.
};
struct PromptText {
    std::string description;
    std::string text;  // The person's words, for the model to read.
};

// A value that is being typed: an argument of a prompt, or the variable of a template.
struct Typing {
    std::string prompt;        // "" for a template.
    std::string uri_template;  // "" for a prompt.
    std::string argument;
    std::string value;  // The part that is typed so far.
};
struct Completions {
    std::vector<std::string> values;  // At most 100.
    bool has_more = false;
};

// The values that begin with what is typed, in their order, each once.
Completions completions_of(const std::vector<std::string>& values, std::string_view typed);

// Replies come once, from any thread, and may come after the service is gone.
class Service {
public:
    virtual ~Service() = default;

    // The approver of this client's calls. Null where nobody is asked in the client; always the
    // same while the service lives.
    virtual Approver* approver() { return nullptr; }

    // The tools that this client may call now. Cheap to ask for, and to compare, where it is the
    // same list as before by its address.
    virtual tools::ToolList tools() const = 0;
    // Returns true if they follow what is stored, as tools do whose arguments are a memory block's:
    // any call may then change them, and nobody may keep a list of them.
    virtual bool has_changing_tools() const { return false; }
    virtual Guidance guidance() const { return {}; }
    // The only Error is not_found "unknown_tool"; every other refusal is a result with is_error.
    virtual void call(std::string name, Value arguments, std::stop_token cancelled,
                      Reply<tools::ToolResult> reply) = 0;

    virtual std::vector<ResourceTemplate> resource_templates() const = 0;
    // Errors: invalid_argument for a cursor that no page gave.
    virtual void list_resources(std::string cursor, std::stop_token cancelled,
                                Reply<ResourcePage> reply) = 0;
    // Errors: not_found for a URI that names nothing; those of reading it.
    virtual void read_resource(std::string uri, std::stop_token cancelled,
                               Reply<ResourceText> reply) = 0;

    // From now on told(uri) is called, from any thread, each time what is read under the URI may have
    // changed, until unfollow_resource() or the end of the service. Errors: those of reading it.
    using ResourceTold = std::function<void(const std::string& uri)>;
    virtual void follow_resource(std::string uri, std::stop_token cancelled, ResourceTold told,
                                 Reply<void> reply) {
        static_cast<void>(cancelled), static_cast<void>(told);
        reply(fail(Errc::not_found, "invalid_reference", "there is no resource " + uri));
    }
    virtual void unfollow_resource(const std::string& uri) { static_cast<void>(uri); }

    virtual std::vector<Prompt> prompts() const { return {}; }
    // One of prompts(), with arguments that it has. Errors: those of what it tells about.
    virtual void get_prompt(std::string name, Map arguments, std::stop_token cancelled,
                            Reply<PromptText> reply) {
        static_cast<void>(arguments), static_cast<void>(cancelled);
        reply(fail(Errc::not_found, "unknown_prompt", "there is no prompt " + name));
    }
    // Nothing for what cannot be completed.
    virtual void complete(Typing typing, std::stop_token cancelled, Reply<Completions> reply) {
        static_cast<void>(typing), static_cast<void>(cancelled);
        reply(Completions{});
    }
};

}  // namespace quire::mcp

// Tool: the functions that agents can call, independent of MCP. There is one source per tool, and
// the registry is the list of all tools.
//
// A call takes this way, and each step may end it with a refusal:
//
//   name     -> a tool of the caller's profile, or one of the actor's own
//   rules    -> is the tool, or this operation of it, one that the actor has at all?
//   schema   -> arguments against the schema that the actor is shown; the operation's own arguments
//   admitted -> the audit log has the call, and the rules count it; a person may be asked
//   run      -> the tool translates to the kernel's calls and back
//   ended    -> log and rules get the outcome; the answer says what others changed meanwhile
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/enum_words.h"
#include "base/function.h"
#include "base/result.h"
#include "base/value.h"
#include "kernel/core/caller.h"
#include "kernel/oversight/touched.h"
#include "tools/operations.h"

namespace quire::policy {
class ToolCatalog;
}

namespace quire::kernel {
class Admission;
class FileCalls;
class Kernel;
class MemoryCalls;
class Sources;
class WorkspaceSearch;
class RuleCalls;
}  // namespace quire::kernel

namespace quire::tools {

// The set of tools that a session sees: made for models (few words, lines from 1), complete (for
// programs, lines from 0 and half-open), or named as models know them from elsewhere (lines from
// 1).
enum class Profile { model, full, compat };
constexpr auto words_of(Profile) {
    return word_table("model", "full", "compat");
}

// The annotations of MCP. They are promises: a tool that says read_only changes nothing, and
// clients may call it without asking anybody.
struct Annotations {
    bool read_only = false;
    bool destructive = false;
    bool idempotent = false;
    bool open_world = false;
    // Published without the hints that say what is no news of a workspace's tool: that it writes, and
    // that it reaches nothing outside.
    bool brief = false;
    friend bool operator==(const Annotations&, const Annotations&) = default;
};

// The description of a tool. What its maker writes is turned into the published form by published()
// and by the profile.
struct ToolInfo {
    std::string name;
    std::string title;
    std::string description;  // When it is published, a line for each operation follows.
    Value input_schema;       // JSON Schema 2020-12, additionalProperties false.
    Value output_schema;
    Annotations annotations;
    Operations operations = {};  // Empty for a tool that does one thing.
    bool for_people = false;     // Listed for human actors alone, and refused to the others.
    // The conversation of a call that names none by its argument `conversation`; "" for none.
    std::string conversation = {};
    // The tool belongs to another program. Its schemas need only follow the standard; its
    // promises are passed on, and nothing here relies on them.
    bool foreign = false;
};

// The description of a tool of which only these operations may be used. Schema, description and
// annotations mention no other; where the rest only reads, the annotations say so. A tool without
// operations is returned whole. An unlisted operation among them stays callable and is not named.
ToolInfo published(ToolInfo info, const std::vector<std::string>& operations);

// The published form of a name: "block_edit" for "block.edit".
std::string published_name(std::string_view name);

// A tool's answer. `structured` and `text` say the same, for a program and for a model; a client
// may show either.
struct ToolAnswer {
    Value structured;  // Fits output_schema; null for another program's tool that gave none.
    std::string text;  // For a model to read.
    // The content of another program's tool, in MCP's blocks, which clients get in place of
    // `text`.
    std::optional<List> content = {};
    // Another program's tool reports that it failed. This is an answer, not a refusal of ours.
    bool failed = false;
    // Leaves out of `structured` what says nothing or what the call's arguments `said`
    // (json::Fields::lean()); null for another program's tool. Profile `model` answers so.
    std::function<void(Map& structured, const Map& said)> lean = {};
};

// The outcome of a call: values, until a door encodes them. So the log, the rules and the marks of
// what was read see members and no text.
struct ToolResult {
    std::variant<ToolAnswer, Error> outcome;  // An Error is a refusal.
    kernel::Touched touched = {};             // The facts for the audit log.
    Map meta = {};  // For the program that runs the model: {"quire/loop": "ended"} and the like.

    const ToolAnswer* answer() const { return std::get_if<ToolAnswer>(&outcome); }
    const Error* refusal() const { return std::get_if<Error>(&outcome); }
};
// The result of a refused call. It names no block as touched, since a refusal has changed nothing.
ToolResult refused(Error error);

// A result in the form that doors write.
struct EncodedResult {
    Value structured;  // The answer's, or {"error": {code, reason, message, details}}.
    std::string text;  // A refusal's first line says that nothing was changed and why.
    std::optional<List> content = {};
    bool is_error = false;
    Map meta = {};
};
// Encodes an answer or a refusal. The text of an escalation tells how a person answers it. A
// refusal's text begins "Nothing was changed: ", but for calls of other programs' tools whose
// effect is not known.
EncodedResult encoded(ToolResult result);

// The caller of a tool and the profile of its session. A value: each call has its own.
struct Session {
    kernel::Caller caller;
    Profile profile = Profile::model;
};

// One tool as one profile shows it, made by the functions of tools/tools.h. Immutable; called from
// several threads at once.
class Tool {
public:
    explicit Tool(ToolInfo info) : info_(std::move(info)) {}
    virtual ~Tool() = default;
    const ToolInfo& info() const { return info_; }
    // Runs the tool and replies exactly once, from any thread. `arguments` is an object that fits
    // the tool's schema and its operation.
    virtual void call(const Session& session, Value arguments, Reply<ToolResult> reply) const = 0;

private:
    ToolInfo info_;
};

// The tools that one client is shown, immutable and shared. It stays valid after the rules have
// changed; two lists with one address are the same.
using ToolList = std::shared_ptr<const std::vector<ToolInfo>>;

class RememberTools;

// All tools, by profile, and the rules that limit them. add(), remember() and hold_to() come before
// the first call; after that, any thread. It owns the tools; the kernel and its calls outlive it.
class Registry {
public:
    // The calls for tools that work on blocks; all outlive the registry. Calls may name files and
    // memory blocks by path and label (addressed.h) if sources and memory are given. Without a
    // search, one of documents alone is made.
    struct Parts {
        kernel::Kernel& kernel;
        kernel::FileCalls* files = nullptr;
        kernel::MemoryCalls* memory = nullptr;
        const kernel::Sources* sources = nullptr;
        kernel::WorkspaceSearch* search = nullptr;
    };
    // Makes these tools.
    explicit Registry(const Parts& parts);
    // The tools of all profiles, for checking rules against.
    policy::ToolCatalog catalog() const;
    // Limits what agents see and call to what `rules` allow, from now on and as they change.
    // Without this call nobody is limited. Before the first call; the rules outlive the registry.
    void hold_to(kernel::RuleCalls& rules);
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry();
    // Adds tools that depend on their caller; a tool of a profile hides one of the same name. Does
    // nothing if it names none.
    void remember(RememberTools tools);
    // Returns true if list() may change with what is stored.
    bool follows_memory() const;
    // Adds a tool. Its name must be new to the profile (CHECK), and its schema must compile, which
    // is found out when it is first called. Lists keep the order of adding.
    void add(Profile profile, std::unique_ptr<const Tool> tool);

    // The rules have changed: views of the rules before are forgotten, but lists that callers hold
    // stay valid. Any thread. O(views).
    void on_new_rules();
    // The tools published to the actor, in a stable order: those of its profile that its rules
    // leave, then its own. Cheap after the first time for the same rules, but for an actor with
    // tools of its own. Not after the registry.
    ToolList list(Profile profile, const policy::Actor& to) const;
    // The rules for the actor, one sentence each, as a client's model is told them; none if no
    // rules govern it.
    std::vector<std::string> rules_for(const policy::Actor& actor) const;
    // The admission that tools pass, for operations that are no tool calls: the log, and the
    // rules.
    kernel::Admission admission() const;
    // Ends the rules' counts for the caller's session.
    void end_session(const kernel::Caller& by) const;
    // The tool of that name in the profile, or nullptr; an actor's own tools are not found.
    // "block.edit" finds "block_edit", and "file.read" the tool "file". Valid as long as the
    // registry.
    const ToolInfo* find(Profile profile, std::string_view name) const;
    // Checks the call against the rules and `arguments` against the schema that the actor is shown,
    // runs the tool, and replies exactly once, from any thread. A refusal is a result. If the call
    // needs a person's approval, it is requested in the call's name. Every call is in the audit
    // log, one that is refused before it runs included. The only Error is not_found "unknown_tool"
    // {tools}, which lists the known names and suggests the nearest.
    void call(const Session& session, std::string_view name, Value arguments,
              Reply<ToolResult> reply) const;

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

}  // namespace quire::tools

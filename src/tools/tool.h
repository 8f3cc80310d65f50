// Tool: the agent's vocabulary, independent of MCP. One file per tool; the registry is the list.
#pragma once

#include <cstdint>
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
#include "kernel/core/kernel.h"
#include "kernel/oversight/touched.h"
#include "tools/operations.h"

namespace quire::policy {
class ToolCatalog;
}

namespace quire::kernel {
class Admission;
class RuleCalls;
}  // namespace quire::kernel

namespace quire::tools {

enum class Profile { model, full, compat };
constexpr auto words_of(Profile) {
    return word_table("model", "full", "compat");
}

// MCP's annotations. They are promises: a tool that says read_only changes nothing.
struct Annotations {
    bool read_only = false;
    bool destructive = false;
    bool idempotent = false;
    bool open_world = false;
};

struct ToolInfo {
    std::string name;
    std::string title;
    std::string description;  // When it is published, the descriptions of its operations follow.
    Value input_schema;       // JSON Schema 2020-12, additionalProperties false.
    Value output_schema;
    Annotations annotations;
    Operations operations = {};  // Empty for a tool that does one thing.
    bool for_people = false;     // Listed for human actors alone, and refused to the others.
    // The conversation of a call that names none by its argument `conversation`; "" for none.
    std::string conversation = {};
    // Another program's: its schemas are held to nothing beyond the standard, and what it promises
    // is passed on and relied on nowhere.
    bool foreign = false;
};

// `info` as it is published where these of its operations may be used: in the schema, the
// description and the annotations nothing is left of the others. All of them, for what declares
// none.
ToolInfo published(ToolInfo info, const std::vector<std::string>& operations);

// The name that is published of a tool which is called `name`: "block_edit" for "block.edit".
std::string published_name(std::string_view name);

// A tool's answer.
struct ToolAnswer {
    Value structured;  // Fits output_schema; null for another program's tool that gave none.
    std::string text;  // For a model to read.
    // Another program's content, in MCP's blocks, for clients in the place of `text`.
    std::optional<List> content = {};
    // Another program's tool says that it failed. That is an answer, and no refusal of ours.
    bool failed = false;
};

// The outcome of a call: values, until a door encodes them.
struct ToolResult {
    std::variant<ToolAnswer, Error> outcome;  // An Error is a refusal.
    kernel::Touched touched = {};             // The facts for the audit log.
    Map meta = {};  // For the program that runs the model: {"quire/loop": "ended"} and the like.

    const ToolAnswer* answer() const { return std::get_if<ToolAnswer>(&outcome); }
    const Error* refusal() const { return std::get_if<Error>(&outcome); }
};
ToolResult refused(Error error);

// A result as doors write it.
struct EncodedResult {
    Value structured;  // The answer's, or {"error": {code, reason, message, details}}.
    std::string text;  // A refusal's first line says that nothing was changed and why.
    std::optional<List> content = {};
    bool is_error = false;
    Map meta = {};
};
EncodedResult encoded(ToolResult result);

struct Session {
    kernel::Caller caller;
    Profile profile = Profile::model;
};

// One tool as one profile shows it. Made by the functions of tools/blocks.h and their like.
class Tool {
public:
    explicit Tool(ToolInfo info) : info_(std::move(info)) {}
    virtual ~Tool() = default;
    const ToolInfo& info() const { return info_; }
    // Runs, and replies exactly once, from any thread. `arguments` are an object that the tool's
    // schema and its operation take. Called from several threads at once.
    virtual void call(const Session& session, Value arguments, Reply<ToolResult> reply) const = 0;

private:
    ToolInfo info_;
};

class Registry {
public:
    // Holds the tools that work on blocks. Others are added before the first call and listing.
    explicit Registry(kernel::Kernel& kernel);
    // Before the first call: which tools there are, in any profile.
    policy::ToolCatalog catalog() const;
    // Before the first call. What agents are shown and may call is what `rules` leave them.
    void hold_to(kernel::RuleCalls& rules);
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry();
    // The name must be new to the profile, and the schema compile; lists keep the order of adding.
    void add(Profile profile, std::unique_ptr<const Tool> tool);

    // The tools published to the actor, in a stable order that depends on nothing else. Valid as
    // long as the registry.
    const std::vector<ToolInfo>& list(Profile profile, const policy::Actor& to) const;
    // The rules for the actor, a sentence for each; none where they do not govern it.
    std::vector<std::string> rules_for(const policy::Actor& actor) const;
    // For what is done otherwise than by a tool: the log and the rules that hold for tools.
    kernel::Admission admission() const;
    // Ends what the rules count in the caller's session.
    void end_session(const kernel::Caller& by) const;
    // nullptr where there is none. "block.edit" finds "block_edit", "file.read" the tool "file".
    const ToolInfo* find(Profile profile, std::string_view name) const;
    // Holds the call to the rules, checks `arguments` against the schema that the actor is shown,
    // runs, replies exactly once, from any thread. A refusal is a result. What needs a person's
    // approval is asked for in the call's name. The only Error: not_found "unknown_tool", which
    // lists the names there are.
    void call(const Session& session, std::string_view name, Value arguments,
              Reply<ToolResult> reply) const;

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

}  // namespace quire::tools

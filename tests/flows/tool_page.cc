#include "tests/flows/tool_page.h"

#include <algorithm>

#include "base/concat.h"
#include "json/json.h"

namespace quire {

namespace {

bool is_required(const Value& schema, std::string_view name) {
    const Value* required = schema.get("required");
    // An output schema wants either its members or an error.
    if (const Value* either = schema.get("anyOf"))
        required = either->as_list().front().get("required");
    if (required == nullptr) return false;
    const List& names = required->as_list();
    return std::find(names.begin(), names.end(), Value(name)) != names.end();
}

// A schema in a few words: "integer ≥ 0", "one of a b c", "array of one of …".
std::string in_words(const Value& schema) {
    if (const Value* words = schema.get("enum")) {
        std::string out = "one of";
        for (const Value& word : words->as_list()) out += cat(" `", word.as_string(), "`");
        return out;
    }
    if (const Value* forms = schema.get("oneOf")) {
        std::string out;
        for (const Value& form : forms->as_list()) {
            std::string members;
            for (const Map::Entry& member : form.get("properties")->as_map()) {
                const Value* word = member.value.get("const");
                members += cat(members.empty() ? "" : ", ", member.key,
                               is_required(form, member.key) ? "" : "?",
                               word != nullptr ? cat(": ", json::write(*word)) : std::string());
            }
            out += cat(out.empty() ? "" : " or ", "`{", members, "}`");
        }
        return out;
    }
    const Value* type = schema.get("type");
    std::string out;
    if (type != nullptr && type->is_string()) out = type->as_string();
    if (type != nullptr && type->is_list()) {
        for (const Value& each : type->as_list())
            out += cat(out.empty() ? "" : " or ", each.as_string());
    }
    if (const Value* items = schema.get("items")) out += cat(" of ", in_words(*items));
    if (const Value* members = schema.get("properties")) {
        std::string names;
        for (const Map::Entry& member : members->as_map())
            names += cat(names.empty() ? "" : ", ", member.key);
        out = cat("`{", names, "}`");
    }
    const Value* minimum = schema.get("minimum");
    const Value* maximum = schema.get("maximum");
    if (minimum != nullptr) out += cat(" ≥ ", minimum->as_int());
    if (maximum != nullptr) out += cat(" ≤ ", maximum->as_int());
    return out;
}

// A description without line breaks, for a table.
std::string in_a_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

// The lines of the operations as a list.
std::string as_list(std::string_view description) {
    std::string out;
    std::size_t lines = 0;
    for (std::size_t at = 0; at <= description.size(); ++lines) {
        const std::size_t end = std::min(description.find('\n', at), description.size());
        const std::string_view line = description.substr(at, end - at);
        out += lines == 0 ? cat(line, "\n\n") : cat("- ", line, "\n");
        at = end + 1;
    }
    return lines > 1 ? out + "\n" : out;
}

std::string describe(const tools::ToolInfo& tool) {
    std::string out = cat("### ", tool.name, "\n\n", as_list(tool.description));
    if (tool.for_people) out += "Only human actors see it and may call it.\n\n";
    const tools::Annotations& promised = tool.annotations;
    if (promised.read_only) {
        out += "Read-only.\n\n";
    } else {
        out += cat(promised.destructive ? "Can overwrite or delete" : "Adds only",
                   promised.idempotent ? "; calling it twice does no more than calling it once.\n\n"
                                       : ".\n\n");
    }
    out += "| argument | | what |\n|---|---|---|\n";
    for (const Map::Entry& field : tool.input_schema.get("properties")->as_map()) {
        const Value* fallback = field.value.get("default");
        const Value* description = field.value.get("description");
        const std::string need = is_required(tool.input_schema, field.key) ? "required"
                                 : fallback != nullptr
                                     ? cat("default `", json::write(*fallback), "`")
                                     : std::string("optional");
        out += cat(
            "| `", field.key, "` | ", need, " | ", in_words(field.value),
            description != nullptr ? cat(". ", in_a_line(description->as_string())) : std::string(),
            " |\n");
    }
    std::string members;
    const Value* answered = tool.output_schema.get("properties");
    for (const Map::Entry& member : answered != nullptr ? answered->as_map() : Map()) {
        members += cat(members.empty() ? "" : ", ", member.key,
                       is_required(tool.output_schema, member.key) ? "" : "?");
    }
    return out += members.empty() ? "\n" : cat("\nAnswers `{", members, "}`.\n\n");
}

constexpr std::string_view kOpening =
    "# Tools\n\n"
    "This page is written from the tools themselves. A test compares it with what is published, "
    "and rewrites it with `REGEN=1`.\n\n"
    "A refused call is also a result: `{\"error\": {code, reason, message, details}}`. The first "
    "line of its text says that\n"
    "nothing was changed and why; the last says what to call next. A name may be written with a "
    "dot "
    "(`block.edit`).\n\n"
    "`block_id` is a block's id, `file:PATH`, `memory:LABEL` or `memory:OWNER/LABEL`. A file is "
    "loaded on the way. Tools that read or\n"
    "search take a memory block as its plain text; those that write refuse it as `memory_block`. "
    "Answers about a file have its `path`,\n"
    "about a memory block its `label` and `owner`. A path may be absolute if it leads into the "
    "workspace.\n\n";

}  // namespace

std::string tool_page(const tools::Registry& registry) {
    std::string out(kOpening);
    const policy::Actor reader{policy::ActorKind::human, "ada"};
    out +=
        "## Profile `model`\n\nThe default. Lines count from 1; a range includes both ends. "
        "Answers "
        "have the members of profile `full`,\nwithout those that say nothing: null, false, empty "
        "strings, arrays and objects, and what the call or another member\nsays already.\n\n";
    for (const tools::ToolInfo& tool : *registry.list(tools::Profile::model, reader))
        out += describe(tool);
    out +=
        "## Profile `full`\n\nFor programs. Lines count from 0; a range does not include its "
        "end.\n\n";
    for (const tools::ToolInfo& tool : *registry.list(tools::Profile::full, reader))
        out += describe(tool);
    out +=
        "## Profile `compat`\n\nNames that models know from elsewhere. Lines count from 1; a range "
        "includes both ends. The tools `file`, `context` and `approvals` are those of profile "
        "`model`.\n\n";
    for (const tools::ToolInfo& tool : *registry.list(tools::Profile::compat, reader)) {
        if (registry.find(tools::Profile::model, tool.name) == nullptr) out += describe(tool);
    }
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
}

}  // namespace quire

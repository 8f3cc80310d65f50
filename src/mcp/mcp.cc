// Every function here maps values to values: O(result), no state. A model reads each list of tools
// and pays for every word of it, so whatever a client assumes anyway is left out.
//
// Differences between revisions are asked by name (knows_titles() and its like), so each stands in
// one place with the date from which it holds. A member that a client does not know would be
// ignored by most and refused by some, so it is left out.
#include "mcp/mcp.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "mcp/elicitation.h"

namespace quire::mcp {
namespace {

constexpr std::string_view kProtocolVersion = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kClientCapabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kClientInfo = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view kServerInfo = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view kQuestion = "approval";  // The key of our question in a result.

template <std::size_t n>
bool among(const std::array<std::string_view, n>& versions, std::string_view version) {
    return std::find(versions.begin(), versions.end(), version) != versions.end();
}

template <std::size_t n>
List as_list(const std::array<std::string_view, n>& versions) {
    return List(versions.begin(), versions.end());
}

// The `_meta` of params; null when it is missing or no object.
const Map* meta_of(const Map& params) {
    const Value* meta = params.find("_meta");
    return meta != nullptr && meta->is_map() ? &meta->as_map() : nullptr;
}

// Revisions are dates, so that they compare as text.
bool knows_output_schemas(std::string_view version) {
    return version >= "2025-06-18";
}
bool knows_titles(std::string_view version) {
    return version >= "2025-06-18";
}
bool knows_annotations(std::string_view version) {
    return version >= "2025-03-26";
}

// A destructive hint is left out where it is true: clients assume it when it is absent.
Map annotations_of(const tools::Annotations& promised) {
    Map hints;
    if (promised.read_only || !promised.brief) hints.append("readOnlyHint", promised.read_only);
    if (!promised.read_only) {
        if (!promised.destructive) hints.append("destructiveHint", false);
        if (promised.idempotent) hints.append("idempotentHint", true);
    }
    if (!promised.brief) hints.append("openWorldHint", promised.open_world);

    return hints;
}

// A tool's output schema says at length that a result is either the promised object or {"error":
// …}. Only the members and their types inform a reader. They alone are published, and both kinds of
// result fit them.
Value published(const Value& schema) {
    Map out = schema.as_map();
    if (out.contains("additionalProperties"))
        return schema;  // "error" must stay among its members.
    out.erase("anyOf");
    out.erase("required");
    if (Value* properties = out.find("properties"); properties != nullptr && properties->is_map()) {
        properties->as_map().erase("error");
    }
    return out;
}

}  // namespace

// One member is enough: a client of 2026-07-28 that forgets another is to be told so, and not to be
// taken for a legacy one.
bool has_modern_meta(const Map& params) {
    const Map* meta = meta_of(params);
    return meta != nullptr && (meta->contains(kProtocolVersion) ||
                               meta->contains(kClientCapabilities) || meta->contains(kClientInfo));
}

std::optional<rpc::Fault> check_modern_meta(const Map& params) {
    const Map* meta = meta_of(params);
    const Value* version = meta != nullptr ? meta->find(kProtocolVersion) : nullptr;
    const Value* client = meta != nullptr ? meta->find(kClientCapabilities) : nullptr;
    // All faults are named at once, so that a client mends them in one step.
    List wrong;
    std::string names;
    const auto need = [&](bool good, std::string_view key) {
        if (good) return;
        wrong.emplace_back(key);
        names += cat(names.empty() ? "" : " and ", key);
    };
    need(version != nullptr && version->is_string(), kProtocolVersion);
    need(client != nullptr && client->is_map(), kClientCapabilities);
    if (!wrong.empty()) {
        return rpc::Fault{rpc::Code::invalid_params,
                          cat("params._meta must hold ", names, "; a client of ",
                              kLegacyVersions.front(), " or before sends initialize first"),
                          {{"missing", wrong}, {"supported", as_list(kModernVersions)}}};
    }
    if (!among(kModernVersions, version->as_string())) {
        return rpc::Fault{
            rpc::Code::unsupported_version,
            "Unsupported protocol version",
            {{"supported", as_list(kModernVersions)}, {"requested", version->as_string()}}};
    }
    return std::nullopt;
}

const Value* client_capabilities(const Map& meta) {
    return meta.find(kClientCapabilities);
}

bool takes_forms(const Value* capabilities) {
    const Value* elicitation = capabilities != nullptr ? capabilities->get("elicitation") : nullptr;
    if (elicitation == nullptr || !elicitation->is_map()) return false;
    // Revisions with forms only had no member for a mode.
    return elicitation->get("form") != nullptr || elicitation->get("url") == nullptr;
}

// A client that cannot speak the revision it gets disconnects; that is its part of the handshake.
std::string_view negotiate(std::string_view requested) {
    const auto at = std::find(kLegacyVersions.begin(), kLegacyVersions.end(), requested);
    return at != kLegacyVersions.end() ? *at : kLegacyVersions.front();
}

Map modern_result(Map result, Caching caching, const Implementation& server) {
    if (!result.contains("resultType")) result.append("resultType", "complete");
    if (caching != Caching::none) {
        // Milliseconds: five minutes for lists that a restart may change, an hour for the rest.
        const int ttl = caching == Caching::never     ? 0
                        : caching == Caching::minutes ? 300'000
                                                      : 3'600'000;
        result.append("ttlMs", ttl);
        result.append("cacheScope", "private");
    }
    // A tool may have put members of its own into _meta; ours is added to them.
    Value* meta = result.find("_meta");
    if (meta == nullptr) meta = &result.append("_meta", Map{});
    meta->as_map().append(std::string(kServerInfo), implementation(server));
    return result;
}

// The tools follow the settings, which may change.
Map capabilities() {
    return Map{{"tools", Map{{"listChanged", true}}},
               {"resources", Map{{"subscribe", true}, {"listChanged", false}}},
               {"prompts", Map{{"listChanged", false}}},
               {"completions", Map{}}};
}

Value implementation(const Implementation& server) {
    return Map{{"name", server.name}, {"title", server.title}, {"version", server.version}};
}

// Read by a model at the start of every session: when to use these tools, and how to edit what others
// edit too.
std::string instructions(const Guidance& guidance) {
    std::string out = cat(
        "Quire is a workspace that several agents and people edit at once. Prefer these tools to "
        "your own for reading, searching and editing its files and memory: they show edits that "
        "are not on the disk yet, never overwrite what others changed unseen, and keep a history "
        "from which you can undo. Use your own for programs and for what lies outside. ",
        guidance.saves_edits
            ? "An accepted edit by the tool file is on the disk; an edit of a file by a block tool "
              "reaches it by operation save. "
            : "Edits of files are durable at once but reach the disk only by the tool file with "
              "operation save: save before a program reads them. ",
        "Blocks and files are live: others may have changed them since you read them. Name the "
        "text that you expect to replace: when it has changed, nothing is done and the reply shows "
        "what is there now. Undo takes back your own changes without touching anyone else's.");
    if (!guidance.rules.empty()) out += "\n\nRules for your calls:";
    for (const std::string& rule : guidance.rules) out += "\n- " + rule;
    return out;
}

Map initialize_result(std::string_view version, const Implementation& server,
                      const Guidance& guidance) {
    Map offered = capabilities();
    // Modern clients have no logging/setLevel.
    offered.append("logging", Map{});
    return Map{{"protocolVersion", version},
               {"capabilities", std::move(offered)},
               {"serverInfo", implementation(server)},
               {"instructions", instructions(guidance)}};
}

Map discover_result(const Guidance& guidance) {
    return Map{{"supportedVersions", as_list(kModernVersions)},
               {"capabilities", capabilities()},
               {"instructions", instructions(guidance)}};
}

Map tools_result(const std::vector<tools::ToolInfo>& tools, std::string_view version) {
    List listed;
    for (const tools::ToolInfo& tool : tools) {
        Map entry;
        entry.append("name", tool.name);
        if (knows_titles(version) && !tool.title.empty()) entry.append("title", tool.title);
        entry.append("description", tool.description);
        entry.append("inputSchema", tool.input_schema);
        if (knows_output_schemas(version) && tool.output_schema.is_map()) {
            entry.append("outputSchema", published(tool.output_schema));
        }
        if (knows_annotations(version)) {
            Map hints = annotations_of(tool.annotations);
            if (!hints.empty()) entry.append("annotations", std::move(hints));
        }
        listed.push_back(std::move(entry));
    }
    return Map{{"tools", std::move(listed)}};
}

Map call_result(tools::ToolResult value, std::string_view version) {
    tools::EncodedResult result = tools::encoded(std::move(value));
    Map out;
    List content;
    if (result.content) {
        content = std::move(*result.content);
    } else {
        content.push_back(Map{{"type", "text"}, {"text", std::move(result.text)}});
    }
    out.append("content", std::move(content));
    if (knows_output_schemas(version) && !result.structured.is_null()) {
        out.append("structuredContent", std::move(result.structured));
    }
    out.append("isError", result.is_error);
    if (!result.meta.empty()) out.append("_meta", std::move(result.meta));
    return out;
}

Map input_required_result(Map question, std::string state) {
    Map request{{"method", elicitation::kMethod}, {"params", std::move(question)}};
    return Map{{"resultType", "input_required"},
               {"inputRequests", Map{{std::string(kQuestion), std::move(request)}}},
               {"requestState", std::move(state)}};
}

const Value* answer_in(const Map& input_responses) {
    return input_responses.find(kQuestion);
}

Map templates_result(const std::vector<ResourceTemplate>& templates) {
    List listed;
    for (const ResourceTemplate& entry : templates) {
        listed.push_back(Map{{"uriTemplate", entry.uri_template},
                             {"name", entry.name},
                             {"description", entry.description}});
    }
    return Map{{"resourceTemplates", std::move(listed)}};
}

Map resources_result(ResourcePage page) {
    List listed;
    for (Resource& resource : page.resources) {
        Map entry{{"uri", std::move(resource.uri)}, {"name", std::move(resource.name)}};
        if (!resource.description.empty())
            entry.append("description", std::move(resource.description));
        entry.append("mimeType", std::move(resource.mime_type));
        entry.append("size", resource.size);
        listed.push_back(std::move(entry));
    }
    Map out{{"resources", std::move(listed)}};
    if (!page.next_cursor.empty()) out.append("nextCursor", std::move(page.next_cursor));
    return out;
}

Map read_result(ResourceText text) {
    Map entry;
    entry.append("uri", std::move(text.uri));
    entry.append("mimeType", std::move(text.mime_type));
    entry.append("text", std::move(text.text));
    List contents;
    contents.push_back(std::move(entry));
    Map out;
    out.append("contents", std::move(contents));
    return out;
}

Map prompts_result(const std::vector<Prompt>& prompts, std::string_view version) {
    List listed;
    for (const Prompt& prompt : prompts) {
        Map entry{{"name", prompt.name}};
        if (knows_output_schemas(version)) entry.append("title", prompt.title);
        entry.append("description", prompt.description);
        List arguments;
        for (const Prompt::Argument& each : prompt.arguments) {
            arguments.push_back(
                Map{{"name", each.name}, {"description", each.description}, {"required", false}});
        }
        if (!arguments.empty()) entry.append("arguments", std::move(arguments));
        listed.push_back(std::move(entry));
    }
    return Map{{"prompts", std::move(listed)}};
}

Map prompt_result(PromptText text) {
    Map content{{"type", "text"}, {"text", std::move(text.text)}};
    return Map{{"description", std::move(text.description)},
               {"messages", List{Map{{"role", "user"}, {"content", std::move(content)}}}}};
}

Completions completions_of(const std::vector<std::string>& values, std::string_view typed) {
    constexpr std::size_t kMost = 100;  // The protocol's.
    Completions out;
    for (const std::string& value : values) {
        if (!value.starts_with(typed) || std::ranges::find(out.values, value) != out.values.end())
            continue;
        if (out.values.size() == kMost) {
            out.has_more = true;
            break;
        }
        out.values.push_back(value);
    }
    return out;
}

Map completion_result(Completions found) {
    Map completion{{"values", List(found.values.begin(), found.values.end())}};
    // The count of all is known only if none was left out.
    if (!found.has_more) completion.append("total", found.values.size());
    completion.append("hasMore", found.has_more);
    return Map{{"completion", std::move(completion)}};
}

tl::expected<Typing, rpc::Fault> typing_in(const Map& ref, const Map& argument) {
    const auto text = [](const Map& in, std::string_view member) -> const std::string* {
        const Value* const value = in.find(member);
        return value != nullptr && value->is_string() ? &value->as_string() : nullptr;
    };
    const std::string* const type = text(ref, "type");
    const bool of_prompt = type != nullptr && *type == "ref/prompt";
    const bool of_template = type != nullptr && *type == "ref/resource";
    const std::string* const named = text(ref, of_prompt ? "name" : "uri");
    const std::string* const name = text(argument, "name");
    const std::string* const value = text(argument, "value");
    if ((!of_prompt && !of_template) || named == nullptr || name == nullptr || value == nullptr) {
        return tl::unexpected(
            rpc::Fault{rpc::Code::invalid_params,
                       "params.ref must be {type: \"ref/prompt\", name} or {type: "
                       "\"ref/resource\", uri}, and params.argument {name, value}",
                       {}});
    }
    return Typing{of_prompt ? *named : "", of_template ? *named : "", *name, *value};
}

std::optional<rpc::Fault> check_prompt_arguments(const Prompt& prompt, const Map& arguments) {
    for (const Map::Entry& each : arguments) {
        const bool known = std::ranges::find(prompt.arguments, each.key, &Prompt::Argument::name) !=
                           prompt.arguments.end();
        if (known && each.value.is_string()) continue;
        return rpc::Fault{rpc::Code::invalid_params,
                          known ? cat("params.arguments.", each.key, " must be a string")
                                : cat("the prompt ", prompt.name, " has no argument ",
                                      utf8::prefix(each.key, 80)),
                          {{"prompt", prompt.name}}};
    }
    return std::nullopt;
}

// The error's own details come last and may add members, among them those by which an agent goes
// on.
rpc::Fault resource_fault(const Error& error, std::string_view uri, Era era) {
    Map data{{"uri", uri}, {"code", name_of(error.code())}, {"reason", error.reason()}};
    for (const Map::Entry& each : error.details()) data.set(each.key, each.value);
    // By default the URI is at fault; our own troubles are internal errors.
    rpc::Code code = rpc::Code::invalid_params;
    if (error.code() == Errc::not_found && era == Era::legacy) {
        code = rpc::Code::resource_not_found;
    } else if (error.code() == Errc::unavailable || error.code() == Errc::corrupt) {
        code = rpc::Code::internal_error;
    }
    return {code, error.message(), std::move(data)};
}

}  // namespace quire::mcp

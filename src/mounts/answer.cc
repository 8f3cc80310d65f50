// An answer is checked block by block, because a client rejects a whole answer for one wrong block.
// Known blocks are moved, unknown ones become a line of text; structured content is checked against
// the tool's own output schema. O(answer), and the compilation of that schema for each call.
#include "mounts/answer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "json/json.h"
#include "json/members.h"
#include "json/schema/schema.h"
#include "text/ecma_pattern.h"

namespace quire::mounts {
namespace {

// The string members that a block of each type must have; clients reject an answer otherwise.
struct BlockType {
    std::string_view type;
    std::array<std::string_view, 2> strings;
};
constexpr std::array<BlockType, 4> kTypes = {{{"text", {"text", "text"}},
                                              {"image", {"data", "mimeType"}},
                                              {"audio", {"data", "mimeType"}},
                                              {"resource_link", {"uri", "name"}}}};

bool is_resource(const Value& block) {
    const Value* const resource = block.get("resource");
    return resource != nullptr && json::has_text(*resource, "uri") &&
           (json::has_text(*resource, "text") || json::has_text(*resource, "blob"));
}

bool is_known(const Value& block) {
    const std::string type = json::text_in(block, "type");
    if (type == "resource") return is_resource(block);
    const auto at = std::find_if(kTypes.begin(), kTypes.end(),
                                 [&](const BlockType& each) { return each.type == type; });
    return at != kTypes.end() &&
           std::all_of(at->strings.begin(), at->strings.end(),
                       [&](std::string_view member) { return json::has_text(block, member); });
}

Map text_block(std::string text) {
    return {{"type", "text"}, {"text", std::move(text)}};
}

// A block in words, for clients that show only text.
std::string words_of(const Value& block) {
    const std::string type = json::text_in(block, "type");
    if (type == "text") return json::text_in(block, "text");
    if (type == "resource_link") return cat("[link: ", json::text_in(block, "uri"), "]");
    if (type == "resource") {
        const Value& resource = *block.get("resource");
        return json::has_text(resource, "text")
                   ? json::text_in(resource, "text")
                   : cat("[resource: ", json::text_in(resource, "uri"), "]");
    }
    return cat("[", type, ": ", json::text_in(block, "mimeType"), ", ",
               json::text_in(block, "data").size(), " bytes as base64]");
}

// The call has reached the server by then: a wrong answer says nothing about whether it was carried
// out, and the message says so.
Failure wrong(const std::string& mount, const Definition& definition, std::string_view what) {
    return fail(Errc::unavailable, "mount_error",
                cat("the mounted server '", mount, "' answered ", definition.name, " with ", what,
                    ". It may have done what it was asked"),
                {{"mount", mount}, {"tool", definition.name}});
}

std::optional<std::string> misfit(const Value& schema, const Value& structured) {
    // answer_schema() gives only schemas that compile, so this one does too.
    const auto compiled = json::Schema::compile(schema, {.patterns = text::ecma_pattern});
    if (!compiled) return std::nullopt;
    const Result<void> fits = compiled->check(structured);
    return fits ? std::nullopt : std::optional(fits.error().message());
}

}  // namespace

Result<tools::ToolResult> answer_of(Value result, const std::string& mount,
                                    const Definition& definition) {
    Map& members = result.as_map();
    Value* const blocks = members.find("content");
    Value* const structured = members.find("structuredContent");
    if (blocks != nullptr && !blocks->is_list())
        return wrong(mount, definition, "content that is not a list");
    const bool has_structured = structured != nullptr && structured->is_map();
    if (blocks == nullptr && !has_structured) return wrong(mount, definition, "no content");

    tools::ToolAnswer out;
    const Value* const is_error = members.find("isError");
    out.failed = is_error != nullptr && *is_error == Value(true);
    const Value schema = answer_schema(definition);
    // The answer of a failed call describes the failure, and need not have the members of a result.
    if (schema.is_map() && !out.failed) {
        if (!has_structured)
            return wrong(mount, definition, "no structured content, which its output schema has");
        if (const auto why = misfit(schema, *structured)) {
            return wrong(mount, definition,
                         cat("structured content that its own output schema does not allow: ",
                             in_a_line(*why, kLongestNote)));
        }
    }
    List content;
    for (Value& each : blocks == nullptr ? List() : std::move(blocks->as_list())) {
        if (!each.is_map()) return wrong(mount, definition, "content that is not an object");
        if (is_known(each)) {
            content.push_back(std::move(each));
        } else {
            content.push_back(text_block(cat("[content of type '",
                                             in_a_line(json::text_in(each, "type"), kLongestName),
                                             "' was left out]")));
        }
    }
    if (has_structured) out.structured = std::move(*structured);
    // Clients that know no structured content show the same as JSON.
    if (content.empty() && has_structured)
        content.push_back(text_block(json::write(out.structured)));
    for (const Value& each : content)
        cat_to(out.text, cat(out.text.empty() ? "" : "\n", words_of(each)));
    out.content = std::move(content);
    return tools::ToolResult{std::move(out)};
}

}  // namespace quire::mounts

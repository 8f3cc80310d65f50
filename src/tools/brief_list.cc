// A model pays for the JSON of the list, so schemas are changed as values, argument by argument. A
// client that checks calls against the short schema accepts more than we do; the registry checks
// against the long one and its refusals name what was left out. Long lists of words, such as the
// kinds of blocks, are most of what is saved: each is written once.
#include "tools/brief_list.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "json/json.h"

namespace quire::tools {
namespace {

// A list of fewer words costs less than a reference to it.
constexpr std::size_t kFewWords = 3;

// "{start, end}": an optional member has a question mark.
std::string member_names(const Map& members, const Value* required) {
    std::string out;
    for (const Map::Entry& member : members) {
        const bool needed = required != nullptr &&
                            std::ranges::find(required->as_list(), Value(member.key)) !=
                                required->as_list().end();
        cat_to(out, cat(out.empty() ? "" : ", ", member.key, needed ? "" : "?"));
    }
    return cat("{", out, "}");
}

// Turns the members of an object into words, `shape`. Returns false if it names no members.
bool take_members(Map& schema, std::string& shape) {
    const Value* const members = schema.find("properties");
    if (members == nullptr) return false;
    shape = member_names(members->as_map(), schema.find("required"));
    for (const std::string_view rule : {"properties", "required", "additionalProperties"})
        schema.erase(rule);
    return true;
}

// One argument. An array's description says what its items are, so that their members just go.
void shorten(Map& argument) {
    argument.erase("minimum");
    argument.erase("maximum");
    std::string shape;
    if (take_members(argument, shape)) {
        if (Value* const words = argument.find("description"))
            *words = cat(shape, ". ", words->as_string());
    }
    if (Value* const items = argument.find("items"); items != nullptr && items->is_map())
        take_members(items->as_map(), shape);
}

// The tool that gave an argument of this name these words, by both. A list that another argument
// has is none to refer to: a reader looks for the same name.
using KnownWords = std::map<std::string, std::string>;

// "Only such." as "Only such, as in block_create."
std::string referring(std::string_view description, std::string_view tool) {
    if (description.ends_with('.')) description.remove_suffix(1);
    return cat(description, description.empty() ? "As in " : ", as in ", tool, ".");
}

void refer_to_known_words(const std::string& tool, Map::Entry& argument, KnownWords& known) {
    Map& schema = argument.value.as_map();
    const Value* const words = schema.find("enum");
    if (words == nullptr || words->as_list().size() <= kFewWords) return;
    const auto [at, is_new] = known.emplace(cat(argument.key, json::write(*words)), tool);
    if (is_new) return;
    const Value* const description = schema.find("description");
    std::string says =
        referring(description == nullptr ? "" : description->as_string(), at->second);
    Map shorter{{"type", "string"}, {"description", std::move(says)}};
    if (const Value* const fallback = schema.find("default"))
        shorter.append("default", *fallback);
    schema = std::move(shorter);
}

}  // namespace

void make_brief(std::vector<ToolInfo>& tools) {
    KnownWords known;
    for (ToolInfo& tool : tools) {
        if (tool.foreign) continue;
        Value* const members = tool.input_schema.as_map().find("properties");
        if (members == nullptr) continue;
        for (Map::Entry& argument : members->as_map()) {
            shorten(argument.value.as_map());
            if (argument.key != tool.operations.argument)
                refer_to_known_words(tool.name, argument, known);
        }
    }
}

}  // namespace quire::tools

// A definition is six members of a tools/list entry. Publishing one translates its schemas to
// 2020-12, compiles them, and makes every text in them visible: O(definition), at most
// kLargestDefinition bytes. A tool that cannot be published is left out with a reason; it never
// stops the others. What a person approves is the digest of the six members as the server gave
// them; what agents see is made from them anew by published().
#include "mounts/definition.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/members.h"
#include "json/schema/dialect.h"
#include "json/schema/member_words.h"
#include "json/schema/schema.h"
#include "policy/call_digest.h"
#include "text/ecma_pattern.h"
#include "text/escape_hidden.h"

namespace quire::mounts {
namespace {

constexpr std::array<std::string_view, 6> kMembers = {"name",        "title",        "description",
                                                      "inputSchema", "outputSchema", "annotations"};
// Their words in difference().
constexpr std::array<std::string_view, 6> kMemberWords = {
    "its name",         "its title",         "its description",
    "its input schema", "its output schema", "what it promises (annotations)"};

// How much of the common part is shown before the first difference, in bytes.
constexpr std::size_t kBeforeChange = 40;

Failure unusable(std::string_view why) {
    return invalid("unusable_tool", std::string(why));
}

bool is_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    });
}

// Returns true if the text has invisible characters other than blanks and line ends.
bool has_hidden(std::string_view text) {
    // escape_hidden() would escape line ends and tabs as well, and they hide nothing here.
    std::string seen(text);
    for (char& c : seen) {
        if (c == '\n' || c == '\t' || c == '\r') c = ' ';
    }
    return text::escape_hidden(seen) != seen;
}

// Makes a schema's titles and descriptions visible. False when another string in it has invisible
// characters: names and enum words must be written by callers exactly as they are. `names`: the
// keys of this object are names of members, not keywords.
bool make_visible(Value& schema, bool names) {
    if (schema.is_string()) return !has_hidden(schema.as_string());
    if (schema.is_list()) {
        return std::all_of(schema.as_list().begin(), schema.as_list().end(),
                           [](Value& each) { return make_visible(each, false); });
    }
    if (!schema.is_map()) return true;
    // $comment is for the authors of a schema; published, it would only be one more text of a
    // stranger.
    if (!names) schema.as_map().erase("$comment");
    for (Map::Entry& each : schema.as_map()) {
        if (has_hidden(each.key)) return false;
        // Below `properties`, "description" is the name of a member.
        const bool is_words =
            !names && each.value.is_string() && (each.key == "description" || each.key == "title");
        if (is_words) {
            each.value = visible(each.value.as_string(), kLongestNote);
        } else if (!make_visible(
                       each.value,
                       !names && (each.key == "properties" || each.key == "patternProperties" ||
                                  each.key == "$defs" || each.key == "definitions"))) {
            return false;
        }
    }
    return true;
}

bool compiles(const Value& schema) {
    return json::Schema::compile(schema, {.patterns = text::ecma_pattern}).has_value();
}

Result<Value> input_schema(const Definition& definition) {
    const Value* const input = definition.value.get("inputSchema");
    if (input == nullptr || !input->is_map()) return unusable("it has no input schema");
    Result<Value> schema = json::in_2020_12(*input);
    if (!schema) return unusable(schema.error().message());
    if (!schema->is_map()) return unusable("its input schema is not an object");
    const Value* const type = schema->get("type");
    if (type == nullptr || *type != Value("object"))
        return unusable("its input schema is not of type object");
    // A name cannot be written out like a description: callers have to send it exactly as it is.
    if (!make_visible(*schema, false))
        return unusable("a name or a word in its input schema has invisible characters");
    const auto compiled = json::Schema::compile(*schema, {.patterns = text::ecma_pattern});
    if (!compiled) return unusable(cat("its input schema: ", compiled.error().message()));
    return schema;
}

// The published schema of its answers: their members, none of them required, because an answer may
// also be a refusal of ours.
Value output_schema(const Definition& definition) {
    const Value whole = answer_schema(definition);
    if (!whole.is_map()) return {};
    Map out{{"type", "object"}};
    for (const std::string_view kept : {"properties", "$defs", "definitions"}) {
        if (const Value* part = whole.get(kept)) out.append(std::string(kept), *part);
    }
    if (Value* members = out.find("properties"); members != nullptr && members->is_map())
        // The member `error` of an answer is ours: a refusal is told there.
        members->as_map().erase("error");
    Value schema(std::move(out));
    return make_visible(schema, false) && compiles(schema) ? schema : Value();
}

// Its annotations, with the protocol's defaults for missing hints.
tools::Annotations annotations_of(const Definition& definition) {
    const Value* const annotations = definition.value.get("annotations");
    const auto hint = [&](std::string_view name, bool otherwise) {
        const Value* const value = annotations == nullptr ? nullptr : annotations->get(name);
        return value != nullptr && value->is_bool() ? value->as_bool() : otherwise;
    };
    tools::Annotations out;
    out.read_only = hint("readOnlyHint", false);
    out.destructive = !out.read_only && hint("destructiveHint", true);
    out.idempotent = hint("idempotentHint", false);
    out.open_world = hint("openWorldHint", true);
    return out;
}

Result<tools::Operations> operations_of(const Value& schema, const std::string& argument) {
    if (argument.empty()) return tools::Operations();
    tools::Operations out{.argument = argument};
    for (std::string& word : json::words_of_member(schema, argument))
        out.all.push_back({.name = std::move(word)});
    if (out.all.empty()) {
        return unusable(cat("quire.toml says that its argument '", argument,
                            "' names its operation, and its schema lists no words for that"));
    }
    return out;
}

// Indexes in kMembers.
std::vector<std::size_t> members_that_differ(const Definition& before, const Definition& now) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < kMembers.size(); ++i) {
        const Value* const one = before.value.get(kMembers[i]);
        const Value* const other = now.value.get(kMembers[i]);
        // Members are compared as the digest is made: their order and a space make no difference.
        const bool same = one == nullptr || other == nullptr
                              ? one == other
                              : policy::canonical(*one) == policy::canonical(*other);
        if (!same) out.push_back(i);
    }
    return out;
}

std::string member_in_a_line(const Definition& of, std::string_view member) {
    const Value* const value = of.value.get(member);
    if (value == nullptr) return "";
    return in_a_line(value->is_string() ? value->as_string() : json::write(*value),
                     kLargestDefinition);
}

// A quotation of `line` that begins shortly before `from`. Quotes in it become apostrophes.
std::string quoted_from(std::string_view line, std::size_t from, std::size_t limit) {
    std::size_t begin = from - std::min(from, kBeforeChange);
    // The cut may be within a character, which begins some bytes before.
    while (begin > 0 && begin < line.size() && !utf8::is_boundary(line[begin])) --begin;
    const std::string_view rest = line.substr(begin);
    const std::string_view part = utf8::prefix(rest, limit);
    std::string out = cat(begin > 0 ? "…" : "", part, part.size() < rest.size() ? "…" : "");
    std::replace(out.begin(), out.end(), '"', '\'');
    return cat("\"", out, "\"");
}

}  // namespace

std::string visible(std::string_view text, std::size_t limit) {
    std::string out;
    // A text ends for us where it is no UTF-8 any more.
    const std::size_t valid = utf8::find_invalid(text).value_or(text.size());
    const bool cut = valid < text.size() || utf8::count_code_points(text) > limit;
    std::string_view rest = cut ? utf8::prefix(text.substr(0, valid), limit) : text;
    while (true) {
        const std::size_t end = std::min(rest.find_first_of("\n\t\r"), rest.size());
        out += text::escape_hidden(rest.substr(0, end));
        if (end == rest.size()) break;
        if (rest[end] != '\r') out += rest[end];
        rest.remove_prefix(end + 1);
    }
    if (cut) out += " … (cut)";
    return out;
}

std::string in_a_line(std::string_view text, std::size_t limit) {
    return text::escape_hidden(visible(text, limit));
}

bool Definition::only_reads() const {
    return annotations_of(*this).read_only;
}

const Definition* Listing::find(std::string_view name) const {
    const auto at = std::find_if(tools.begin(), tools.end(),
                                 [&](const Definition& each) { return each.name == name; });
    return at == tools.end() ? nullptr : &*at;
}

std::optional<Definition> definition_of(const Value& entry) {
    const std::string name = json::text_in(entry, "name");
    if (name.empty()) return std::nullopt;
    Map kept;
    for (const std::string_view member : kMembers) {
        if (const Value* value = entry.get(member)) kept.append(std::string(member), *value);
    }
    Definition out{name, std::move(kept), {}};
    out.digest = policy::value_digest(out.value);
    return out;
}

Listing listing_of(const List& tools) {
    Listing out;
    std::size_t whole = 0;
    for (const Value& each : tools) {
        std::optional<Definition> definition = definition_of(each);
        if (!definition) {
            out.left_out.push_back({"", "an entry of its list has no name"});
            continue;
        }
        const auto leave_out = [&](std::string why) {
            out.left_out.push_back({in_a_line(definition->name, kLongestName), std::move(why)});
        };
        // The bounds are on definitions as they are stored and compared: a server could fill the
        // store with them, and each is sent to models.
        const std::size_t size = json::write(definition->value).size();
        if (out.find(definition->name) != nullptr) {
            leave_out("it is listed twice; the first entry is used");
        } else if (size > kLargestDefinition) {
            leave_out(cat("its definition has more than ", kLargestDefinition, " bytes"));
        } else if (whole + size > kLargestDefinitions) {
            leave_out(cat("with it the definitions of the server's tools have more than ",
                          kLargestDefinitions, " bytes"));
        } else {
            whole += size;
            out.tools.push_back(std::move(*definition));
        }
    }
    return out;
}

std::string digest_of(const std::vector<Definition>& tools) {
    // The digests are sorted, so a server that lists its tools in another order has changed
    // nothing.
    std::set<std::string> lines;
    for (const Definition& each : tools) lines.insert(cat(each.digest, "\n"));
    std::string all;
    for (const std::string& line : lines) all += line;
    return policy::sha256_hex(all);
}

std::string difference(const Definition& before, const Definition& now) {
    const std::vector<std::size_t> members = members_that_differ(before, now);
    std::string out;
    for (std::size_t i = 0; i < members.size(); ++i) {
        cat_to(out, cat(i == 0                    ? ""
                        : i + 1 == members.size() ? " and "
                                                  : ", ",
                        kMemberWords[members[i]]));
    }
    return out;
}

std::string difference_shown(const Definition& before, const Definition& now, std::size_t limit) {
    const std::vector<std::size_t> members = members_that_differ(before, now);
    std::string out;
    for (const std::size_t member : members) {
        const std::string one = member_in_a_line(before, kMembers[member]);
        const std::string other = member_in_a_line(now, kMembers[member]);
        std::size_t from = 0;
        while (from < one.size() && from < other.size() && one[from] == other[from]) ++from;
        const std::size_t share = limit / members.size() / 2;
        cat_to(out,
               cat(out.empty() ? "" : "; ", kMemberWords[member], ": now ",
                   quoted_from(other, from, share), ", before ", quoted_from(one, from, share)));
    }
    return out;
}

std::string published_name(std::string_view mount, std::string_view tool) {
    return tools::published_name(cat(mount, "_", tool));
}

Value answer_schema(const Definition& definition) {
    const Value* const output = definition.value.get("outputSchema");
    if (output == nullptr || !output->is_map()) return {};
    Result<Value> schema = json::in_2020_12(*output);
    return schema && compiles(*schema) ? std::move(*schema) : Value();
}

Result<tools::ToolInfo> published(std::string_view mount, const Definition& definition,
                                  const std::string& argument) {
    tools::ToolInfo out;
    out.name = published_name(mount, definition.name);
    if (!is_name(definition.name) || out.name.size() > kLongestName) {
        return unusable(cat("its name as '", in_a_line(out.name, kLongestName),
                            "' is not of letters, digits, '_', '-' and '.', at most ",
                            kLongestName));
    }
    out.title = in_a_line(json::text_in(definition.value, "title"), kLongestName);
    out.description = visible(json::text_in(definition.value, "description"), kLongestDescription);
    out.input_schema = TRY(input_schema(definition));
    out.output_schema = output_schema(definition);
    out.annotations = annotations_of(definition);
    out.operations = TRY(operations_of(out.input_schema, argument));
    out.foreign = true;
    return out;
}

}  // namespace quire::mounts

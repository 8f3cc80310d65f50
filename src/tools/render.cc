#include "tools/render.h"

#include <array>

#include "base/cat.h"
#include "text/diff.h"

namespace quire::tools {

namespace {

constexpr std::array<std::string_view, 3> kProfiles = {"model", "full", "compat"};

Value type_of(std::string_view types) {
    const std::size_t bar = types.find('|');
    if (bar == std::string_view::npos) return types;
    return List{types.substr(0, bar), types.substr(bar + 1)};
}

// What whoever is to wait for a person can do.
std::string wait_for(const Error& escalation) {
    const Value* id = escalation.details().find("approval_id");
    if (id == nullptr || !id->is_string()) return {};
    return cat("\nApproval ", id->as_string(),
               " waits for a person, who answers with: quire approvals approve ", id->as_string(),
               " --actor human:NAME. Then make the very same call again.");
}

}  // namespace

std::string_view profile_name(Profile profile) {
    return kProfiles[static_cast<std::size_t>(profile)];
}

Result<Profile> parse_profile(std::string_view word) {
    for (std::size_t i = 0; i < kProfiles.size(); ++i) {
        if (kProfiles[i] == word) return static_cast<Profile>(i);
    }
    return invalid("invalid_argument",
                   cat("there is no profile \"", word, "\"; it is one of model full compat"));
}

ToolResult refused(const Error& error) {
    std::string text = cat("Nothing was changed: ", error.message());
    if (!text.ends_with('.') && !text.ends_with('\n')) text += '.';
    if (error.code() == Errc::escalation_required) text += wait_for(error);
    return {Map{{"error", Map{{"code", errc_name(error.code())},
                              {"reason", error.reason()},
                              {"message", error.message()},
                              {"details", error.details()}}}},
            std::move(text), true};
}

blocks::Numbering numbering_of(Profile profile) {
    return profile == Profile::full ? blocks::Numbering::zero_half_open
                                    : blocks::Numbering::one_inclusive;
}

blocks::EditLimits edit_limits(const kernel::Kernel& kernel) {
    blocks::EditLimits limits;
    limits.block_bytes = kernel.limits().block_bytes;
    limits.operation_bytes = kernel.limits().operation_bytes;
    return limits;
}

Map object_schema(std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
    Map properties;
    List required;
    for (auto [name, types] : members) {
        if (types.ends_with('?')) {
            types.remove_suffix(1);
        } else {
            required.emplace_back(name);
        }
        properties.append(std::string(name), Map{{"type", type_of(types)}});
    }
    Map out{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) out.append("required", std::move(required));
    return out;
}

Value or_refusal(Value schema) {
    if (Value* required = schema.is_map() ? schema.as_map().find("required") : nullptr) {
        List either{Map{{"required", std::move(*required)}}, Map{{"required", List{"error"}}}};
        schema.as_map().erase("required");
        schema.as_map().append("anyOf", std::move(either));
    }
    return schema;
}

Map array_schema(Map items) {
    return {{"type", "array"}, {"items", std::move(items)}};
}

std::string count_of(std::size_t count, std::string_view noun) {
    return cat(count, " ", noun, count == 1 ? "" : noun.ends_with("ch") ? "es" : "s");
}

List strings(const std::vector<std::string>& texts) {
    List out;
    for (const std::string& text : texts) out.emplace_back(text);
    return out;
}

std::string version_line(std::uint64_t version, std::size_t line_count) {
    return cat("version ", version, ", ", count_of(line_count, "line"));
}

std::string status_words(const kernel::BlockInfo& info) {
    return info.reason.empty() ? info.status : cat(info.status, " (", info.reason, ")");
}

std::string header_line(const kernel::BlockText& block) {
    std::string out = cat(
        block.info.block_id, ": ", block.info.kind, ", ", status_words(block.info), ", ",
        version_line(block.info.version, block.info.line_count), ", ", block.info.bytes, " bytes");
    if (block.eol == "crlf" || block.eol == "mixed") out += cat(", line ends ", block.eol);
    if (!block.final_newline && block.info.bytes > 0) out += ", no newline at the end";
    if (!block.info.path.empty()) out += cat(", ", block.info.path);
    return out += '\n';
}

ToolResult render_edited(const kernel::Edited& edited, Profile profile) {
    const blocks::Numbering numbering = numbering_of(profile);
    const blocks::Change& change = edited.change;

    Map out{{"version", edited.version}, {"line_count", edited.line_count}};
    const bool counts_from_zero = numbering == blocks::Numbering::zero_half_open;
    if (counts_from_zero || change.changed.begin != change.changed.end) {
        out.append("changed", Map{{"start", blocks::shown(numbering, change.changed.begin)},
                                  {"end", change.changed.end.n}});
    }
    out.append("snippet", snippet_of(change, profile));
    out.append("no_op", edited.no_op);
    out.append("notes", strings(edited.notes));

    std::string text =
        cat(edited.no_op ? "The block already reads so; nothing was changed: " : "Done: now ",
            version_line(edited.version, edited.line_count), ".\n");
    for (const std::string& note : edited.notes) text += cat("Note: ", note, ".\n");
    return {std::move(out), text + snippet_text(change, profile)};
}

std::string beginning_of(std::string_view content, Profile profile) {
    std::vector<std::string> lines;
    for (const std::string_view line : text::split_lines(content)) {
        if (lines.size() == kShownLines) break;
        lines.emplace_back(line);
    }
    return blocks::numbered(lines, {0}, numbering_of(profile), true);
}

std::string snippet_of(const blocks::Change& change, Profile profile) {
    return blocks::numbered(change.snippet, change.shown.begin, numbering_of(profile), true);
}

std::string snippet_text(const blocks::Change& change, Profile profile) {
    std::string text = snippet_of(change, profile);
    if (change.shown.end < change.changed.end) {
        text += cat("… and ",
                    count_of(change.changed.end.n - change.shown.end.n, "more changed line"), "\n");
    }
    return text;
}

Map edited_schema(Profile profile) {
    // A model reads this at every start, word by word.
    if (profile != Profile::full) {
        return object_schema(
            {{"version", "integer"}, {"line_count", "integer"}, {"snippet", "string"}});
    }
    return object_schema({{"version", "integer"},
                          {"line_count", "integer"},
                          {"changed", "object"},
                          {"snippet", "string"},
                          {"no_op", "boolean"},
                          {"notes", "array"}});
}

ToolResult render_history(const kernel::HistoryPage& page) {
    List versions;
    std::string text = page.versions.empty() ? "No versions.\n" : "";
    for (const kernel::HistoryEntry& entry : page.versions) {
        versions.push_back(Map{{"version_id", entry.version_id},
                               {"timestamp", entry.timestamp},
                               {"actor", entry.actor},
                               {"description", entry.description}});
        text += cat(entry.version_id, "\t", entry.actor, "\t", entry.description, "\n");
    }
    const bool more = !page.next_cursor.empty();
    if (more) text += cat("More with cursor \"", page.next_cursor, "\".\n");
    return {Map{{"versions", std::move(versions)},
                {"next_cursor", more ? Value(page.next_cursor) : Value()}},
            std::move(text)};
}

Value hit_value(const blocks::Finding::Hit& hit, blocks::Numbering numbering) {
    return Map{{"line", blocks::shown(numbering, hit.line)},
               {"content", hit.content},
               {"match_start", hit.match_start},
               {"match_end", hit.match_end}};
}

std::string hit_text(const blocks::Finding::Hit& hit, blocks::Numbering numbering) {
    std::vector<std::string> lines;
    for (std::size_t at = 0;;) {
        const std::size_t newline = hit.content.find('\n', at);
        lines.push_back(hit.content.substr(at, newline - at));
        if (newline == std::string::npos) break;
        at = newline + 1;
    }
    return blocks::numbered(lines, hit.content_begin, numbering, true);
}

std::optional<Error> past_the_end(std::size_t first, const Error* error, std::size_t line_count) {
    if (error != nullptr) {
        if (error->reason() != "line_out_of_range") return std::nullopt;
        line_count = static_cast<std::size_t>(error->details().find("max")->as_int());
    } else if (first <= line_count || first <= 1) {
        return std::nullopt;
    }
    return Error(
        Errc::out_of_range, "line_out_of_range",
        cat("line ", first, " is past the end: the block has ", count_of(line_count, "line"),
            line_count == 0 ? std::string() : cat(". Valid lines: 1 to ", line_count)),
        {{"requested", first}, {"max", line_count}});
}

}  // namespace quire::tools

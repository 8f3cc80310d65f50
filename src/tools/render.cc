// Answers as clients and models read them: refusals, edits, histories, and the schemas that
// promise them. An answer stays a value until encoded() turns it into structured content and
// text, which is also where a refusal becomes an error object.
//
// An output schema promises little: the members that are there and their types. Clients check every
// answer against it, refusals and the answers of later versions included, so a bound or a closed
// object would turn a good answer into an error.
#include "tools/render.h"

#include <algorithm>
#include <array>

#include "base/concat.h"
#include "edits/numbering.h"
#include "kernel/core/kernel.h"
#include "kernel/core/parts.h"
#include "text/diff.h"
#include "text/escape_hidden.h"
#include "text/utc_time.h"

namespace quire::tools {

namespace {

// The next step for a caller that must wait for a person.
std::string wait_for(const Error& escalation) {
    const Value* id = escalation.details().find("approval_id");
    if (id == nullptr || !id->is_string()) return {};
    return cat("\nApproval ", id->as_string(),
               " waits for a person, who answers with: quire approvals approve ", id->as_string(),
               " --actor human:NAME. Then make the very same call again.");
}

}  // namespace

ToolResult refused(Error error) {
    return {std::move(error)};
}

namespace {

// A refusal for a model to read. Where it is not known what another program did, its message says
// so.
std::string text_of(const Error& error) {
    if (error.reason() == "fate_unknown" || error.reason() == "mount_error") return error.message();
    std::string text = cat("Nothing was changed: ", error.message());
    if (!text.ends_with('.') && !text.ends_with('\n')) text += '.';
    if (error.code() == Errc::escalation_required) text += wait_for(error);
    return text;
}

}  // namespace

// The one place at which a refusal gets its form, so that all tools and doors refuse alike.
EncodedResult encoded(ToolResult result) {
    if (const Error* const error = result.refusal()) {
        return {Map{{"error", Map{{"code", name_of(error->code())},
                                  {"reason", error->reason()},
                                  {"message", error->message()},
                                  {"details", error->details()}}}},
                text_of(*error),
                {},
                true,
                std::move(result.meta)};
    }
    auto& answer = std::get<ToolAnswer>(result.outcome);
    return {std::move(answer.structured), std::move(answer.text), std::move(answer.content),
            answer.failed, std::move(result.meta)};
}

edits::Numbering numbering_of(Profile profile) {
    return profile == Profile::full ? edits::Numbering::zero_half_open
                                    : edits::Numbering::one_inclusive;
}

edits::EditLimits edit_limits(const kernel::Kernel& kernel) {
    edits::EditLimits limits;
    limits.block_bytes = kernel.limits().block_bytes;
    limits.operation_bytes = kernel.limits().operation_bytes;
    return limits;
}

namespace {

// The schema on which both agree: the same, or only the type, or nothing.
Value common(const Value& one, const Value& other) {
    if (one == other) return one;
    const Value* const type = one.get("type");
    const Value* const also = other.get("type");
    if (type == nullptr || also == nullptr || *type != *also) return Map{};
    return Map{{"type", *type}};
}

bool requires_member(const Map& schema, const std::string& name) {
    const Value* const required = schema.find("required");
    if (required == nullptr) return false;
    const List& names = required->as_list();
    return std::find(names.begin(), names.end(), Value(name)) != names.end();
}

// The schema with nothing in it closed or bounded, down through its members. It recurses as deep as
// our own schemas are.
Value opened(Value schema) {
    if (schema.is_list()) {
        for (Value& each : schema.as_list()) each = opened(std::move(each));
    }
    if (!schema.is_map()) return schema;
    for (const std::string_view rule : {"additionalProperties", "minimum", "maximum"})
        schema.as_map().erase(rule);
    for (const std::string_view inside : {"items", "anyOf", "oneOf"}) {
        if (Value* const found = schema.as_map().find(inside)) *found = opened(std::move(*found));
    }
    if (Value* const properties = schema.as_map().find("properties")) {
        for (Map::Entry& each : properties->as_map()) each.value = opened(std::move(each.value));
    }
    return schema;
}

}  // namespace

Map one_of(std::initializer_list<Map> schemas) {
    Map properties;
    for (const Map& schema : schemas) {
        const Value* const members = schema.find("properties");
        if (members == nullptr) continue;
        for (const Map::Entry& member : members->as_map()) {
            Value* const there = properties.find(member.key);
            if (there != nullptr) {
                *there = common(*there, member.value);
            } else {
                properties.append(member.key, member.value);
            }
        }
    }
    List required;
    for (const Map::Entry& member : properties) {
        if (std::all_of(schemas.begin(), schemas.end(),
                        [&](const Map& schema) { return requires_member(schema, member.key); }))
            required.emplace_back(member.key);
    }
    Map out{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) out.append("required", std::move(required));
    return out;
}

Value or_refusal(Map schema) {
    Value out = opened(std::move(schema));
    if (Value* required = out.as_map().find("required")) {
        List either{Map{{"required", std::move(*required)}}, Map{{"required", List{"error"}}}};
        out.as_map().erase("required");
        out.as_map().append("anyOf", std::move(either));
    }
    return out;
}

std::string count_of(std::size_t count, std::string_view noun) {
    return cat(count, " ", noun, count == 1 ? "" : noun.ends_with("ch") ? "es" : "s");
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
    // Only what is unusual is said: most texts end their lines with LF, and their last line too.
    if (block.eol == "crlf" || block.eol == "mixed") out += cat(", line ends ", block.eol);
    if (!block.final_newline && block.info.bytes > 0) out += ", no newline at the end";
    if (!block.info.path.empty()) out += cat(", ", block.info.path);
    if (!block.info.label.empty())
        out += cat(", memory ", text::escape_hidden(block.info.label), " of ", block.info.owner);
    return out += '\n';
}

Fields<EditAnswer::Lines> EditAnswer::Lines::fields() {
    return Fields<Lines>().required("start", &Lines::start).required("end", &Lines::end);
}

Fields<EditAnswer> EditAnswer::fields() {
    return edit_fields(Profile::compat);
}

Fields<EditAnswer> edit_fields(Profile profile) {
    Fields<EditAnswer> out;
    out.required("version", &EditAnswer::version).required("line_count", &EditAnswer::line_count);
    // A model reads the names at every start, word by word.
    const bool brief = profile == Profile::model;
    if (numbering_of(profile) == edits::Numbering::zero_half_open) {
        out.required("changed", &EditAnswer::changed);
    } else {
        out.optional("changed", &EditAnswer::changed).unlisted(brief);
    }
    return out.required("snippet", &EditAnswer::snippet)
        .required("no_op", &EditAnswer::no_op)
        .unlisted(brief)
        .required("notes", &EditAnswer::notes)
        .unlisted(brief);
}

Answered<EditAnswer> render_edited(const kernel::Edited& edited, Profile profile) {
    const edits::Numbering numbering = numbering_of(profile);
    const edits::Change& change = edited.change;

    EditAnswer out{.version = edited.version,
                   .line_count = edited.line_count,
                   .changed = {},
                   .snippet = snippet_of(change, profile),
                   .no_op = edited.no_op,
                   .notes = edited.notes};
    const bool counts_from_zero = numbering == edits::Numbering::zero_half_open;
    if (counts_from_zero || change.changed.begin != change.changed.end) {
        out.changed =
            EditAnswer::Lines{edits::shown(numbering, change.changed.begin), change.changed.end.n};
    }

    const std::string text =
        cat(edited.no_op ? "The block already reads so; nothing was changed: " : "Done: now ",
            version_line(edited.version, edited.line_count), ".\n", note_lines(edited.notes));
    return {std::move(out), text + snippet_text(change, profile)};
}

std::string beginning_of(std::string_view content, Profile profile) {
    std::vector<std::string> lines;
    for (const std::string_view line : text::split_lines(content)) {
        if (lines.size() == kShownLines) break;
        lines.emplace_back(line);
    }
    return edits::numbered(lines, {0}, numbering_of(profile), true);
}

std::string snippet_of(const edits::Change& change, Profile profile) {
    return edits::numbered(change.snippet, change.shown.begin, numbering_of(profile), true);
}

std::string snippet_text(const edits::Change& change, Profile profile) {
    std::string text = snippet_of(change, profile);
    if (change.shown.end < change.changed.end) {
        text += cat("… and ",
                    count_of(change.changed.end.n - change.shown.end.n, "more changed line"), "\n");
    }
    return text;
}

Fields<ShownVersion> ShownVersion::fields() {
    return Fields<ShownVersion>()
        .required("version_id", &ShownVersion::version_id)
        .required("timestamp", &ShownVersion::timestamp)
        .required("actor", &ShownVersion::actor)
        .required("description", &ShownVersion::description);
}

Fields<ShownHistory> ShownHistory::fields() {
    return Fields<ShownHistory>()
        .required("versions", &ShownHistory::versions)
        .kept()
        .nullable("next_cursor", &ShownHistory::next_cursor);
}

Fields<ShownDiff> ShownDiff::fields() {
    return Fields<ShownDiff>().required("diff", &ShownDiff::diff).kept();
}

ShownHistory shown_history(const kernel::HistoryPage& page) {
    ShownHistory out{{}, page.next_cursor};
    for (const kernel::HistoryEntry& entry : page.versions) {
        out.versions.push_back({entry.version_id, text::utc_time(entry.timestamp), entry.actor,
                                entry.description});
    }
    return out;
}

std::string history_text(const kernel::HistoryPage& page) {
    std::string text = page.versions.empty() ? "No versions.\n" : "";
    for (const kernel::HistoryEntry& entry : page.versions)
        text += cat(entry.version_id, "\t", text::utc_time(entry.timestamp), "\t", entry.actor, "\t",
                    entry.description, "\n");
    return text + cursor_line(page.next_cursor);
}

std::string diff_text(const std::string& diff) {
    return diff.empty() ? "The two versions are equal.\n" : diff;
}

std::string cursor_line(const std::string& next_cursor) {
    return next_cursor.empty() ? "" : cat("More with cursor \"", next_cursor, "\".\n");
}

std::string note_lines(const std::vector<std::string>& notes) {
    std::string out;
    for (const std::string& note : notes) out += cat("Note: ", note, ".\n");
    return out;
}

std::optional<Error> past_the_end(std::size_t first, const Error* error, std::size_t line_count) {
    if (error != nullptr) {
        if (error->reason() != "line_out_of_range") return std::nullopt;
        // The refusal's details have the number of lines as `max` (edits/view.h). The kernel takes
        // a range that begins right behind the last line; here that is past the end, unless the
        // block is empty.
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

// The text is parsed twice: toml++ says what the table holds, and whether the file is valid before
// and after the edit; a scan by lines finds the bytes of the table. The scan knows only headers
// with bare keys on a line of their own. A table that is written otherwise (inline, dotted, quoted)
// is found by the parser and not by the scan, and is refused as "not_a_table" instead of being
// written twice.
#include "cli/exchange/toml_edit.h"

#include <cstddef>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "base/concat.h"
#include "json/json.h"

namespace quire::cli {
namespace {

// The bytes of a table: from its header to the end of its last member.
struct TomlStretch {
    std::size_t begin = 0;
    std::size_t end = 0;
};

Result<toml::table> parsed_toml(std::string_view text) {
    toml::parse_result parsed = toml::parse(text);
    if (parsed) return std::move(parsed).table();
    const auto line = parsed.error().source().begin.line;
    return invalid("invalid_toml",
                   cat("line ", line, ": it is not TOML: ", parsed.error().description()),
                   {{"line", static_cast<std::int64_t>(line)}});
}

// The table at that place; nullptr if there is none.
Result<const toml::table*> table_at(const toml::table& root, const MemberPlace& place) {
    const toml::node* const container = root.get(place.container);
    if (container == nullptr) return nullptr;
    const toml::table* const outer = container->as_table();
    if (outer == nullptr || outer->is_inline()) {
        return fail(Errc::unsupported, "not_a_table",
                    cat("its ", place.container, " is not written as [", place.container,
                        ".NAME] headers"));
    }
    const toml::node* const node = outer->get(place.name);
    if (node == nullptr) return nullptr;
    const toml::table* const table = node->as_table();
    if (table == nullptr || table->is_inline()) {
        return fail(
            Errc::unsupported, "not_a_table",
            cat("its ", place.container, ".", place.name, " is not written under a header"));
    }
    return table;
}

std::string header_of(const MemberPlace& place) {
    return cat("[", place.container, ".", place.name, "]");
}

// The lines of the table. Errors: unsupported "not_a_table" when its header is spelt otherwise. It
// ends behind its last member; comments and blank lines before the next header belong to that one.
Result<TomlStretch> stretch_of(std::string_view text, const MemberPlace& place) {
    const std::string header = header_of(place);
    std::optional<TomlStretch> found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const std::string_view line = text.substr(at, end - at);
        const std::size_t first = line.find_first_not_of(" \t\r\n");
        if (found && first != std::string_view::npos && line[first] == '[') break;
        if (line.substr(0, line.find_last_not_of(" \t\r\n") + 1) == header) {
            found = TomlStretch{at, end};
        } else if (found && first != std::string_view::npos && line[first] != '#') {
            found->end = end;
        }
        at = end;
    }
    if (found) return *found;
    return fail(Errc::unsupported, "not_a_table", cat("it has no line ", header));
}

std::string table_text(const MemberPlace& place, const Map& value) {
    std::string out = cat(header_of(place), "\n");
    // JSON's strings and lists of strings are TOML too.
    for (const Map::Entry& each : value)
        cat_to(out, cat(each.key, " = ", json::write(each.value), "\n"));
    return out;
}

Value value_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    const toml::array* const list = node.as_array();
    if (list == nullptr) return {};
    List out;
    for (const toml::node& each : *list) out.push_back(value_of(each));
    return out;
}

}  // namespace

Result<std::optional<Map>> toml_value(std::string_view text, const MemberPlace& place) {
    const toml::table root = TRY(parsed_toml(text));
    const toml::table* const table = TRY(table_at(root, place));
    if (table == nullptr) return std::optional<Map>();
    TRY(stretch_of(text, place));
    Map out;
    for (const auto& [key, node] : *table) out.append(std::string(key.str()), value_of(node));
    return std::optional(std::move(out));
}

Result<std::string> toml_with(std::string_view text, const MemberPlace& place, const Map& value) {
    const std::string written = table_text(place, value);
    std::string out;
    if (TRY(toml_value(text, place))) {
        const TomlStretch there = TRY(stretch_of(text, place));
        out = cat(text.substr(0, there.begin), written, text.substr(there.end));
    } else {
        // A blank line before it, except behind a text whose last line does not end: so
        // toml_without() knows how the text ended.
        out = cat(text, text.empty() ? "" : "\n", written);
    }
    // A line of a string over several lines may look like a header. What is left of the string is
    // then no TOML, and the edit is refused.
    TRY(parsed_toml(out));
    return out;
}

Result<std::string> toml_without(std::string_view text, const MemberPlace& place) {
    if (!TRY(toml_value(text, place))) return std::string(text);
    const TomlStretch there = TRY(stretch_of(text, place));
    const bool is_last = there.end == text.size();
    const std::size_t begin = is_last && there.begin > 0 ? there.begin - 1 : there.begin;
    std::string out = cat(text.substr(0, begin), text.substr(there.end));
    TRY(parsed_toml(out));
    return out;
}

}  // namespace quire::cli

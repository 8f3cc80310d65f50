// People and models write the same content in many forms: "- [x] milk", "Milk: yes", "## Milk".
// Each reader here accepts what is unambiguous and returns nothing otherwise, so that convert() can
// count what was lost instead of storing a guess. All of it is linear in the text.

#include "memory/convert_values.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "memory/timestamp.h"
#include "memory/validate.h"

namespace quire::memory::conversion {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    const std::size_t end = text.find_last_not_of(kBlanks);
    return end == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

std::string folded(std::string_view name) {
    std::string out;
    for (const char c : trimmed(name))
        out += c == '_' ? ' ' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return out;
}

const Value* value_at(const Value& value, std::string_view path) {
    const Value* at = &value;
    while (!path.empty() && at != nullptr) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        // A field may have a '/' in its name, a section has none.
        const Value* whole = at->get(path);
        at = whole != nullptr ? whole : at->get(path.substr(0, slash));
        if (whole != nullptr) break;
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return at;
}

// Lists become lines, objects one line of pairs.
std::string text_of(const Value& value) {
    if (value.is_string()) return value.as_string();
    if (value.is_list()) {
        std::string out;
        for (const Value& each : value.as_list()) out += cat("- ", text_of(each), "\n");
        return out;
    }
    if (value.is_map()) {
        std::string out;
        for (const Map::Entry& each : value.as_map())
            out += cat(out.empty() ? "" : ", ", each.key, ": ", text_of(each.value));
        return out;
    }
    return json::write(value);
}

// Sections become headings and fields become lines, so that splitting finds them again.
std::string lines_from(const Value& value) {
    if (!value.is_map()) return text_of(value);
    std::string out;
    for (const Map::Entry& each : value.as_map()) {
        if (each.value.is_map()) {
            out += cat("=== ", each.key, " ===\n", lines_from(each.value));
        } else {
            out += cat(each.key, each.value.is_list() ? ":\n" : ": ", text_of(each.value));
            if (!out.ends_with('\n')) out += '\n';
        }
    }
    return out;
}

namespace {

// The most code points of lost content that a report quotes.
constexpr std::size_t kQuoted = 60;

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

struct Item {
    std::string text;
    std::optional<bool> done;
};

// A line without its marks of an item: "- [x] milk", "* milk", "3. milk".
Item item_of(std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("- ") || line.starts_with("* ")) {
        line.remove_prefix(2);
    } else {
        const std::size_t digits = line.find_first_not_of("0123456789");
        if (digits > 0 && digits < line.size() && line.substr(digits).starts_with(". "))
            line.remove_prefix(digits + 2);
    }
    line = trimmed(line);
    for (const auto& [box, done] :
         {std::pair("[x] ", true), std::pair("[X] ", true), std::pair("[ ] ", false)}) {
        if (line.starts_with(box)) return {std::string(trimmed(line.substr(4))), done};
    }
    return {std::string(line), std::nullopt};
}

// The whole text must be the number. Whole numbers are tried first: they stay exact, while a double
// would round those above 2^53.
std::optional<Value> number_in(std::string_view text) {
    text = trimmed(text);
    std::int64_t whole = 0;
    const char* end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, whole);
        read.ec == std::errc() && read.ptr == end && !text.empty())
        return Value(whole);
    double number = 0;
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || text.empty()) return std::nullopt;
    return Value(number);
}

// The words that people use for a check box.
std::optional<Value> truth_in(std::string_view text) {
    const std::string word = folded(text);
    for (const char* yes : {"true", "yes", "on", "1", "x", "[x]"})
        if (word == yes) return Value(true);
    for (const char* no : {"false", "no", "off", "0", "[ ]"})
        if (word == no) return Value(false);
    return std::nullopt;
}

// Any value as a list: a text by lines, a list as it is, anything else as one element.
List items_in(const Value& value) {
    if (value.is_list()) return value.as_list();
    List out;
    if (value.is_string()) {
        for (const std::string_view line : lines_of(value.as_string())) {
            if (!trimmed(line).empty()) out.emplace_back(item_of(line).text);
        }
        return out;
    }
    out.push_back(value);
    return out;
}

// The field of an object that receives a text: the first required Text, or the first Text.
const Field* text_field(const std::vector<Field>& fields) {
    const Field* first = nullptr;
    for (const Field& each : fields) {
        if (each.type != FieldType::text) continue;
        if (each.required && !each.default_value) return &each;
        if (first == nullptr) first = &each;
    }
    return first;
}

// An object with the members that the fields name, or made of a text. Members that do not fit are
// left out, and the rest must still be a valid object.
std::optional<Value> object_from(const std::vector<Field>& fields, const Value& value) {
    Map out;
    if (value.is_map()) {
        for (const Map::Entry& each : value.as_map()) {
            const Field* field = find_field(fields, each.key);
            const auto member = field == nullptr ? std::nullopt : field_from(*field, each.value);
            if (member) out.append(each.key, *member);
        }
    } else if (const Field* field = text_field(fields)) {
        const Item item = item_of(text_of(value));
        out.append(field->name, item.text);
        const Field* done = find_field(fields, "done");
        if (item.done && done != nullptr && done->type == FieldType::boolean)
            out.append("done", *item.done);
    }
    if (!check_fields(fields, out)) return std::nullopt;
    return Value(std::move(out));
}

// The three forms of a heading.
std::optional<std::string> heading_in(std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("=== ") && line.ends_with(" ===") && line.size() > 8)
        return folded(line.substr(4, line.size() - 8));
    for (const std::string_view mark : {"# ", "## "})
        if (line.starts_with(mark)) return folded(line.substr(mark.size()));
    return std::nullopt;
}

}  // namespace

std::string beginning(std::string_view text) {
    text = trimmed(text);
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::string_view shown = utf8::prefix(line, kQuoted);
    return cat(shown, shown.size() < line.size() ? "…" : "");
}

// Texts are parsed as the field's type; other values must have it already.
std::optional<Value> field_from(const Field& field, const Value& value) {
    std::optional<Value> out;
    const bool is_text = value.is_string();
    switch (field.type) {
        case FieldType::text:
            out = std::string(is_text ? std::string_view(value.as_string()) : text_of(value));
            break;
        case FieldType::number:
        case FieldType::counter:
            out = is_text ? number_in(value.as_string()) : std::optional(value);
            break;
        case FieldType::boolean:
            out = is_text ? truth_in(value.as_string()) : std::optional(value);
            break;
        case FieldType::list:
            out = items_in(value);
            break;
        case FieldType::timestamp:
            out = is_text ? Value(trimmed(value.as_string())) : value;
            break;
    }
    return out && check_field(field, *out) ? out : std::nullopt;
}

// Each element is fitted to the item's or the entry's schema by itself. An element that does not
// fit is counted in `lost` and left out; elements beyond max_items are lost as well.
List elements_from(const BlockSchema& schema, const Value& value, std::size_t& lost) {
    List elements;
    if (value.is_string()) {
        for (const std::string_view line : lines_of(value.as_string())) {
            if (!trimmed(line).empty()) elements.emplace_back(std::string(trimmed(line)));
        }
    } else {
        elements = items_in(value);
    }
    List out;
    for (Value& each : elements) {
        std::optional<Value> element;
        if (const auto* list = schema.as<ListSchema>()) {
            const auto* item = list->item_schema ? (*list->item_schema)->as<MapSchema>() : nullptr;
            if (item != nullptr) {
                element = object_from(item->fields, each);
            } else if (each.is_string() && value.is_string()) {
                element = item_of(each.as_string()).text;
            } else {
                element = std::move(each);
            }
            if (element && !accept_item(*list, *element)) element.reset();
            if (element && list->max_items && out.size() >= *list->max_items) element.reset();
        } else if (const auto* log = schema.as<LogSchema>()) {
            if (each.is_string()) each = item_of(each.as_string()).text;
            const bool open = log->entry.fields.empty();
            if (!each.is_map() && !each.is_string()) each = text_of(each);
            if (open || each.is_string()) {
                element = std::move(each);
            } else {
                Map rest = each.as_map();
                Map header;
                for (const char* key : {"timestamp", "agent_id"}) {
                    if (const Value* there = rest.find(key)) header.append(key, *there);
                    rest.erase(key);
                }
                element = object_from(log->entry.fields, rest);
                if (element) {
                    for (const Map::Entry& part : header)
                        element->as_map().set(part.key, part.value);
                }
            }
            if (element && !accept_entry(*log, *element)) element.reset();
        }
        if (element) {
            out.push_back(std::move(*element));
        } else {
            ++lost;
        }
    }
    return out;
}

// Text before the first known heading belongs to the rest.
NamedTexts texts_by_heading(std::string_view text, const std::vector<std::string>& names) {
    NamedTexts out;
    std::string* at = &out.rest;
    for (const std::string_view line : lines_of(text)) {
        const auto heading = heading_in(line);
        if (heading && std::ranges::find(names, *heading) != names.end()) {
            at = &out.by_name[*heading];
        } else {
            *at += cat(line, "\n");
        }
    }
    return out;
}

// A line without a known name ends the list that is being read.
NamedTexts texts_by_line(std::string_view text, const std::vector<std::string>& names) {
    NamedTexts out;
    // The text that "- item" lines are added to.
    std::string* list = nullptr;
    for (const std::string_view line : lines_of(text)) {
        const std::size_t colon = line.find(':');
        const std::string name =
            colon == std::string_view::npos ? "" : folded(line.substr(0, colon));
        if (std::ranges::find(names, name) != names.end()) {
            std::string& text_of_name = out.by_name[name];
            if (!text_of_name.empty()) text_of_name += '\n';
            text_of_name += trimmed(line.substr(colon + 1));
            list = &text_of_name;
        } else if (list != nullptr && trimmed(line).starts_with("- ")) {
            *list += cat(list->empty() ? "" : "\n", trimmed(line));
        } else {
            list = nullptr;
            out.rest += cat(line, "\n");
        }
    }
    return out;
}

}  // namespace quire::memory::conversion

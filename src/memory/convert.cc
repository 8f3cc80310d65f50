#include "memory/convert.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "memory/timestamp.h"
#include "memory/validate.h"

namespace quire::memory {
namespace {

constexpr std::string_view kRest = "*";
constexpr std::size_t kQuoted = 60;  // Code points of something lost that a report says.

// --- places ---

struct Target {
    std::string path;
    const BlockSchema* schema = nullptr;  // A Text, a List or a Log; null for a field.
    const Field* field = nullptr;
};

void places_into(const BlockSchema& schema, const std::string& prefix, std::vector<Target>& out) {
    const auto below = [&](const std::string& name) {
        return prefix.empty() ? name : cat(prefix, "/", name);
    };
    if (const auto* composite = schema.as<CompositeSchema>()) {
        for (const Section& each : composite->sections)
            places_into(*each.schema, below(each.name), out);
    } else if (const auto* map = schema.as<MapSchema>()) {
        for (const Field& each : map->fields) out.push_back({below(each.name), nullptr, &each});
    } else {
        out.push_back({prefix, &schema, nullptr});
    }
}

std::vector<Target> places_of(const BlockSchema& schema) {
    std::vector<Target> out;
    places_into(schema, "", out);
    return out;
}

const Target* find(const std::vector<Target>& places, std::string_view path) {
    const auto at = std::find_if(places.begin(), places.end(),
                                 [&](const Target& each) { return each.path == path; });
    return at == places.end() ? nullptr : &*at;
}

// The value at a path of names; none where there is none.
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

void put_at(Value& value, std::string_view path, Value what, bool in_composite) {
    if (path.empty()) {
        value = std::move(what);
        return;
    }
    if (!value.is_map()) value = Map{};
    const std::size_t slash = in_composite ? path.find('/') : std::string_view::npos;
    if (slash == std::string_view::npos) {
        value.as_map().set(path, std::move(what));
        return;
    }
    Map& members = value.as_map();
    Value* inner = members.find(path.substr(0, slash));
    if (inner == nullptr) inner = &members.set(path.substr(0, slash), Map{});
    put_at(*inner, path.substr(slash + 1), std::move(what), in_composite);
}

// --- words ---

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

// A line without what makes it an item: "- [x] milk", "* milk", "3. milk".
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

// What split() takes apart again.
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

std::optional<Value> truth_in(std::string_view text) {
    const std::string word = folded(text);
    for (const char* yes : {"true", "yes", "on", "1", "x", "[x]"})
        if (word == yes) return Value(true);
    for (const char* no : {"false", "no", "off", "0", "[ ]"})
        if (word == no) return Value(false);
    return std::nullopt;
}

// --- values from one kind into another; none where it does not read as one ---

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

// The field of an object that a text goes to: the first that is required, or the first.
const Field* text_field(const std::vector<Field>& fields) {
    const Field* first = nullptr;
    for (const Field& each : fields) {
        if (each.type != FieldType::text) continue;
        if (each.required && !each.default_value) return &each;
        if (first == nullptr) first = &each;
    }
    return first;
}

// An object with those members that the fields have, or a text where they want one.
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

// What becomes of the elements of a list, those that fit; how many do not goes to `lost`.
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

std::string beginning(std::string_view text) {
    text = trimmed(text);
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::string_view shown = utf8::prefix(line, kQuoted);
    return cat(shown, shown.size() < line.size() ? "…" : "");
}

// --- a text that speaks of several places ---

// What a text says of each of the names, and what it says of none.
struct Spoken {
    std::map<std::string, std::string> of;  // By folded name.
    std::string rest;
};

std::optional<std::string> heading_in(std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("=== ") && line.ends_with(" ===") && line.size() > 8)
        return folded(line.substr(4, line.size() - 8));
    for (const std::string_view mark : {"# ", "## "})
        if (line.starts_with(mark)) return folded(line.substr(mark.size()));
    return std::nullopt;
}

Spoken spoken_in_sections(std::string_view text, const std::vector<std::string>& names) {
    Spoken out;
    std::string* at = &out.rest;
    for (const std::string_view line : lines_of(text)) {
        const auto heading = heading_in(line);
        if (heading && std::find(names.begin(), names.end(), *heading) != names.end()) {
            at = &out.of[*heading];
        } else {
            *at += cat(line, "\n");
        }
    }
    return out;
}

Spoken spoken_in_lines(std::string_view text, const std::vector<std::string>& names) {
    Spoken out;
    std::string* list = nullptr;  // Of the name that "- item" lines follow.
    for (const std::string_view line : lines_of(text)) {
        const std::size_t colon = line.find(':');
        const std::string name =
            colon == std::string_view::npos ? "" : folded(line.substr(0, colon));
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            std::string& said = out.of[name];
            if (!said.empty()) said += '\n';
            said += trimmed(line.substr(colon + 1));
            list = &said;
        } else if (list != nullptr && trimmed(line).starts_with("- ")) {
            *list += cat(list->empty() ? "" : "\n", trimmed(line));
        } else {
            list = nullptr;
            out.rest += cat(line, "\n");
        }
    }
    return out;
}

// --- the conversion ---

class Converter {
public:
    Converter(const BlockSchema& from, const Value& value, const BlockSchema& to,
              const Map& mapping)
        : value_(value),
          to_(to),
          mapping_(mapping),
          old_(places_of(from)),
          new_(places_of(to)),
          speaks_(old_.size() == 1 && old_.front().path.empty() && value.is_string() &&
                  !(new_.size() == 1 && new_.front().path.empty())) {
        out_.value = default_value(to);
    }

    Result<Conversion> run() {
        TRY(check_mapping());
        if (speaks_) {
            split();
        } else {
            for (const Target& place : new_) fill(place, source_of(place));
            for (const Target& place : old_) report_lost(place);
        }
        for (const Target& place : new_) {
            const bool wanted =
                place.field != nullptr && place.field->required && !place.field->default_value;
            if (wanted && !filled(place.path)) out_.unset.push_back(place.path);
        }
        return std::move(out_);
    }

private:
    Failure bad_place(std::string_view place, std::string_view why) const {
        return invalid("invalid_mapping", cat("the mapping names '", place, "', ", why),
                       {{"place", place}});
    }
    Result<void> check_mapping() const {
        for (const Map::Entry& each : mapping_) {
            if (find(new_, each.key) == nullptr)
                return bad_place(each.key, "which the new schema does not have");
            if (!each.value.is_string()) return bad_place(each.key, "and not with a text");
            if (!speaks_ && find(old_, each.value.as_string()) == nullptr)
                return bad_place(each.value.as_string(), "which the block does not have");
        }
        return {};
    }
    std::string source_of(const Target& place) const {
        const Value* given = mapping_.find(place.path);
        return given == nullptr ? place.path : given->as_string();
    }
    bool filled(std::string_view path) const {
        return std::any_of(out_.moved.begin(), out_.moved.end(),
                           [&](const auto& move) { return move.to == path; });
    }

    void fill(const Target& place, const std::string& source) {
        if (find(old_, source) != nullptr) {
            if (const Value* value = value_at(value_, source)) fill_with(place, *value, source);
        } else if (source.empty()) {
            // All that the block has, into the one place that there will be.
            for (const Target& each : old_) used_.push_back(each.path);
            const bool is_text = place.schema->as<TextSchema>() != nullptr;
            fill_with(place, is_text ? Value(lines_from(value_)) : value_, source);
        }
    }
    void fill_with(const Target& place, const Value& value, const std::string& source) {
        std::optional<Value> made;
        std::size_t lost = 0;
        if (place.field != nullptr) {
            made = field_from(*place.field, value);
        } else if (place.schema->as<TextSchema>() != nullptr) {
            made = Value(text_of(value));
        } else {
            made = Value(elements_from(*place.schema, value, lost));
        }
        if (!made) {
            out_.lost.push_back(cat(source, ": '", beginning(text_of(value)), "' is no ",
                                    name_of(place.field->type), " for ", place.path));
            used_.push_back(source);
            return;
        }
        if (lost > 0) {
            out_.lost.push_back(
                cat(source, ": ", lost, " of its elements do not fit ", place.path));
        }
        put_at(out_.value, place.path, std::move(*made), to_.as<CompositeSchema>() != nullptr);
        out_.moved.push_back({source, place.path});
        used_.push_back(source);
    }
    void report_lost(const Target& place) {
        if (std::find(used_.begin(), used_.end(), place.path) != used_.end()) return;
        const Value* value = value_at(value_, place.path);
        if (value == nullptr || value->is_null()) return;
        const std::string text = text_of(*value);
        if (!trimmed(text).empty())
            out_.lost.push_back(cat(place.path, ": '", beginning(text), "'"));
    }

    // One text, into the places that it speaks of.
    void split() {
        const bool by_heading = to_.as<CompositeSchema>() != nullptr;
        const std::string& text = value_.as_string();
        std::vector<std::string> names;
        std::map<std::string, const Target*> wanted;
        const Target* rest = nullptr;
        for (const Target& place : new_) {
            const std::string source = source_of(place);
            if (source == kRest) {
                rest = &place;
                continue;
            }
            names.push_back(folded(source));
            wanted.emplace(names.back(), &place);
        }
        Spoken spoken = by_heading ? spoken_in_sections(text, section_names(names))
                                   : spoken_in_lines(text, names);
        if (by_heading) speak_of_fields(spoken, wanted);
        for (const Target& place : new_) {
            const auto said = spoken.of.find(folded(source_of(place)));
            if (said != spoken.of.end() && &place != rest)
                fill_with(place, Value(said->second), said->first);
        }
        if (trimmed(spoken.rest).empty()) return;
        if (rest != nullptr) {
            fill_with(*rest, Value(spoken.rest), std::string(kRest));
        } else {
            out_.lost.push_back(
                cat("lines that no place was found for, from '", beginning(spoken.rest), "' on"));
        }
    }
    // Sections by name, also those whose fields are places.
    static std::vector<std::string> section_names(const std::vector<std::string>& names) {
        std::vector<std::string> out = names;
        for (const std::string& name : names) {
            const std::size_t slash = name.rfind('/');
            if (slash != std::string::npos) out.push_back(name.substr(0, slash));
        }
        return out;
    }
    // What a Map's section says, by its fields.
    static void speak_of_fields(Spoken& spoken,
                                const std::map<std::string, const Target*>& wanted) {
        const std::map<std::string, std::string> sections = spoken.of;
        for (const auto& [section, text] : sections) {
            if (wanted.contains(section)) continue;
            std::vector<std::string> fields;
            for (const auto& [name, place] : wanted) {
                if (name.starts_with(section + "/"))
                    fields.push_back(name.substr(section.size() + 1));
            }
            Spoken inner = spoken_in_lines(text, fields);
            for (auto& [field, said] : inner.of)
                spoken.of[cat(section, "/", field)] = std::move(said);
            spoken.rest += inner.rest;
            spoken.of.erase(section);
        }
    }

    const Value& value_;
    const BlockSchema& to_;
    const Map& mapping_;
    std::vector<Target> old_;
    std::vector<Target> new_;
    const bool speaks_;
    std::vector<std::string> used_;
    Conversion out_;
};

bool additive(const std::vector<Field>& from, const std::vector<Field>& to) {
    return std::all_of(from.begin(), from.end(),
                       [&](const Field& each) {
                           const Field* now = find_field(to, each.name);
                           return now != nullptr && now->type == each.type &&
                                  now->default_value == each.default_value &&
                                  (!now->required || each.required);
                       }) &&
           std::all_of(to.begin(), to.end(), [&](const Field& each) {
               return find_field(from, each.name) != nullptr || !each.required ||
                      each.default_value.has_value();
           });
}

bool at_least(const std::optional<std::size_t>& now, const std::optional<std::size_t>& before) {
    return !now || (before && *now >= *before);
}

}  // namespace

Result<Conversion> convert(const BlockSchema& from, const Value& value, const BlockSchema& to,
                           const Map& mapping) {
    return Converter(from, value, to, mapping).run();
}

namespace {

// Something that is read-only, by its path and by what it is.
struct Guarded {
    std::string path;
    ReadOnlyBreach as;
    const Section* section = nullptr;
    const Field* field = nullptr;

    bool same_as(const Guarded& other) const {
        return section != nullptr ? other.section != nullptr && *section == *other.section
                                  : other.field != nullptr && *field == *other.field;
    }
};

void guarded_into(const BlockSchema& schema, const std::string& prefix, std::vector<Guarded>& out) {
    const auto below = [&](const std::string& name) {
        return prefix.empty() ? name : cat(prefix, "/", name);
    };
    if (const auto* composite = schema.as<CompositeSchema>()) {
        for (const Section& each : composite->sections) {
            if (each.read_only) {
                out.push_back({below(each.name), {true, each.name}, &each, nullptr});
            } else {
                guarded_into(*each.schema, below(each.name), out);
            }
        }
        return;
    }
    if (const auto* map = schema.as<MapSchema>()) {
        for (const Field& each : map->fields) {
            if (each.read_only)
                out.push_back({below(each.name), {false, each.name}, nullptr, &each});
        }
    }
}

std::vector<Guarded> guarded_of(const BlockSchema& schema) {
    std::vector<Guarded> out;
    guarded_into(schema, "", out);
    return out;
}

bool equal(const Value* a, const Value* b) {
    return a == nullptr || b == nullptr ? a == b : *a == *b;
}

}  // namespace

std::optional<ReadOnlyBreach> read_only_breach(const BlockSchema& from, const Value& value,
                                               const BlockSchema& to, const Value& converted) {
    const std::vector<Guarded> before = guarded_of(from);
    const std::vector<Guarded> after = guarded_of(to);
    const Value empty = default_value(to);
    for (const Guarded& each : before) {
        const bool kept = std::any_of(after.begin(), after.end(), [&](const Guarded& now) {
            return now.path == each.path && now.same_as(each);
        });
        if (!kept || !equal(value_at(value, each.path), value_at(converted, each.path)))
            return each.as;
    }
    for (const Guarded& each : after) {
        const bool old = std::any_of(before.begin(), before.end(),
                                     [&](const Guarded& was) { return was.path == each.path; });
        if (!old && !equal(value_at(empty, each.path), value_at(converted, each.path)))
            return each.as;
    }
    return std::nullopt;
}

bool is_additive(const BlockSchema& from, const BlockSchema& to) {
    if (from.name() != to.name()) return false;
    if (const auto* map = from.as<MapSchema>())
        return additive(map->fields, to.as<MapSchema>()->fields);
    if (const auto* list = from.as<ListSchema>()) {
        const auto* now = to.as<ListSchema>();
        if (!at_least(now->max_items, list->max_items)) return false;
        if (!now->item_schema) return true;
        return list->item_schema && is_additive(**list->item_schema, **now->item_schema);
    }
    if (const auto* log = from.as<LogSchema>()) {
        const EntrySchema& now = to.as<LogSchema>()->entry;
        const bool headers =
            log->entry.timestamp == now.timestamp && log->entry.agent_id == now.agent_id;
        const bool opened = now.fields.empty();
        const bool closed = log->entry.fields.empty() && !opened;
        return headers && !closed && (opened || additive(log->entry.fields, now.fields));
    }
    if (const auto* composite = from.as<CompositeSchema>()) {
        return std::all_of(composite->sections.begin(), composite->sections.end(),
                           [&](const Section& each) {
                               const Section* now = to.section(each.name);
                               return now != nullptr && is_additive(*each.schema, *now->schema);
                           });
    }
    return true;
}

}  // namespace quire::memory

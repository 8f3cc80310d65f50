// Reading is a descent over the JSON with a path for messages. Every object is read through Object,
// which remembers the names that were asked for: done() refuses the rest, so a misspelt attribute
// is an error and not a default. The counts of names and the depth are checked on the way down,
// before anything is built.

#include "memory/schema_form.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/concat.h"
#include "base/utf8.h"
#include "memory/validate.h"
#include "text/escape_hidden.h"

namespace quire::memory {
namespace {

constexpr std::int64_t kMostNumber = 1'000'000'000;

// The error for one place of the form.
Failure fault(std::string_view path, std::string_view rule, const std::string& message,
              Map details = {}) {
    details.set("path", path);
    details.set("rule", rule);
    return invalid("invalid_schema", cat("the schema is not valid at ", path, ": ", message),
                   std::move(details));
}

// One object of the form. Members are read by name; done() refuses those that were never read.
class Object {
public:
    // Null opens an empty object: a bare "Text" and {"Text": null} are the same schema.
    static Result<Object> open(const Value& value, const std::string& path) {
        static const Map kEmpty;
        if (value.is_null()) return Object(kEmpty, path);
        if (!value.is_map()) {
            return fault(path, "wrong_type", cat("expected an object, not ", kind_name(value)));
        }
        return Object(value.as_map(), path);
    }

    const std::string& path() const { return path_; }
    std::string path_of(std::string_view key) const { return cat(path_, ".", key); }

    // Returns null if the member is absent or null.
    const Value* find(std::string_view key) {
        asked_.push_back(key);
        const Value* value = map_->find(key);
        return value == nullptr || value->is_null() ? nullptr : value;
    }

    Result<bool> flag(std::string_view key, bool otherwise) {
        const Value* value = find(key);
        if (value == nullptr) return otherwise;
        if (!value->is_bool()) {
            return fault(path_of(key), "wrong_type",
                         cat("expected true or false, not ", kind_name(*value)));
        }
        return value->as_bool();
    }

    Result<std::string> text(std::string_view key) {
        const Value* value = find(key);
        if (value == nullptr) return std::string();
        if (!value->is_string() || !utf8::is_valid(value->as_string())) {
            return fault(path_of(key), "wrong_type",
                         cat("expected a string, not ", kind_name(*value)));
        }
        return value->as_string();
    }

    // A whole number of at least 1.
    Result<std::optional<std::size_t>> number(std::string_view key) {
        const Value* value = find(key);
        if (value == nullptr) return std::nullopt;
        if (!value->is_int()) {
            return fault(path_of(key), "wrong_type",
                         cat("expected a whole number, not ", kind_name(*value)));
        }
        if (value->as_int() < 1 || value->as_int() > kMostNumber) {
            return fault(path_of(key), "out_of_range",
                         cat("expected a number from 1 to ", kMostNumber));
        }
        return static_cast<std::size_t>(value->as_int());
    }

    // An array; empty if the member is absent.
    Result<std::span<const Value>> list(std::string_view key) {
        const Value* value = find(key);
        if (value == nullptr) return std::span<const Value>();
        if (!value->is_list()) {
            return fault(path_of(key), "wrong_type",
                         cat("expected an array, not ", kind_name(*value)));
        }
        return std::span<const Value>(value->as_list());
    }

    // A member that nobody read is unknown.
    Result<void> done() const {
        for (const Map::Entry& each : *map_) {
            if (std::ranges::find(asked_, each.key) == asked_.end()) {
                return fault(path_, "unknown_key", cat("unknown attribute '", each.key, "'"),
                             {{"key", each.key}});
            }
        }
        return {};
    }

private:
    Object(const Map& map, std::string path) : map_(&map), path_(std::move(path)) {}

    const Map* map_;
    std::string path_;
    std::vector<std::string_view> asked_;
};

// Reads a schema from its JSON form.
class Parser {
public:
    Result<BlockSchema> schema(const Value& form, const std::string& path, std::size_t depth);

private:
    Result<BlockSchema> named(std::string_view name, const Value& body, const std::string& path,
                              std::size_t depth);
    Result<BlockSchema> text(Object in);
    Result<BlockSchema> map(Object in);
    Result<BlockSchema> list(Object in, std::size_t depth);
    Result<BlockSchema> log(Object in);
    Result<BlockSchema> composite(Object in, std::size_t depth);
    Result<std::vector<Field>> fields(Object& in);
    Result<Field> field(const Value& form, const std::string& path);
    Result<Section> section(const Value& form, const std::string& path, std::size_t depth);
    Result<void> check_name(const std::string& name, const std::string& path);
    Result<void> check_section_name(const std::string& name, const std::string& path);
    Result<void> check_new(std::set<std::string>& names, const std::string& name,
                           const std::string& path) const;

    std::size_t names_ = 0;
};

// A bare name is short for a schema without members.
Result<BlockSchema> Parser::schema(const Value& form, const std::string& path, std::size_t depth) {
    if (depth > kMaxDepth) {
        return fault(path, "too_deep", cat("schemas nest at most ", kMaxDepth, " deep"),
                     {{"limit", kMaxDepth}});
    }
    if (form.is_string()) return named(form.as_string(), Value(), path, depth);
    if (!form.is_map() || form.as_map().size() != 1) {
        return fault(path, form.is_map() ? "unknown_schema" : "wrong_type",
                     "a schema is an object with one key: Text, Map, List, Log or Composite");
    }
    const Map::Entry& only = *form.as_map().begin();
    return named(only.key, only.value, cat(path, ".", only.key), depth);
}

// A schema is named by its only key.
Result<BlockSchema> Parser::named(std::string_view name, const Value& body, const std::string& path,
                                  std::size_t depth) {
    if (name == "Text") return text(TRY(Object::open(body, path)));
    if (name == "Map") return map(TRY(Object::open(body, path)));
    if (name == "List") return list(TRY(Object::open(body, path)), depth);
    if (name == "Log") return log(TRY(Object::open(body, path)));
    if (name == "Composite") return composite(TRY(Object::open(body, path)), depth);
    if (name == "Tree") {
        return fault(path, "tree",
                     "there is no Tree schema; use Composite, whose sections have a schema each");
    }
    return fault(
        path, "unknown_schema",
        cat("unknown schema '", name, "'; the schemas are Text, Map, List, Log and Composite"));
}

Result<BlockSchema> Parser::text(Object in) {
    TextSchema out;
    if (const Value* value = in.find("viewport")) {
        Object viewport = TRY(Object::open(*value, in.path_of("viewport")));
        const auto start = TRY(viewport.number("start_line"));
        const auto lines = TRY(viewport.number("display_lines"));
        if (!lines) {
            return fault(viewport.path(), "missing", "a viewport needs display_lines");
        }
        TRY(viewport.done());
        out.viewport = Viewport{start.value_or(1), *lines};
    }
    TRY(in.done());
    return BlockSchema(out);
}

Result<BlockSchema> Parser::map(Object in) {
    MapSchema out{TRY(fields(in))};
    TRY(in.done());
    if (out.fields.empty()) {
        return fault(in.path(), "missing", "a Map needs at least one field, in 'fields'");
    }
    return BlockSchema(std::move(out));
}

Result<BlockSchema> Parser::list(Object in, std::size_t depth) {
    ListSchema out;
    if (const Value* items = in.find("item_schema"))
        out.item_schema = TRY(schema(*items, in.path_of("item_schema"), depth + 1));
    out.max_items = TRY(in.number("max_items"));
    TRY(in.done());
    return BlockSchema(std::move(out));
}

// The entry's own header names are reserved, so no field may have one. max_entries is read too, as
// older forms have it, but not beside display_limit: a writer of both means different things by
// them.
Result<BlockSchema> Parser::log(Object in) {
    LogSchema out;
    const auto limit = TRY(in.number("display_limit"));
    const auto most = TRY(in.number("max_entries"));
    if (limit && most) {
        return fault(in.path(), "unknown_key",
                     "max_entries is another word for display_limit; give only one of them",
                     {{"key", "max_entries"}});
    }
    if (limit) out.display_limit = *limit;
    if (most) out.display_limit = *most;

    if (const Value* value = in.find("entry_schema")) {
        Object entry = TRY(Object::open(*value, in.path_of("entry_schema")));
        out.entry.timestamp = TRY(entry.flag("timestamp", true));
        out.entry.agent_id = TRY(entry.flag("agent_id", true));
        out.entry.fields = TRY(fields(entry));
        for (const Field& each : out.entry.fields) {
            if ((each.name == "timestamp" && out.entry.timestamp) ||
                (each.name == "agent_id" && out.entry.agent_id)) {
                return fault(entry.path_of("fields"), "duplicate_name",
                             cat("an entry has its ", each.name, " already"),
                             {{"name", each.name}});
            }
        }
        TRY(entry.done());
    }
    if (const Value* value = in.find("retain")) {
        Object retain = TRY(Object::open(*value, in.path_of("retain")));
        Retain kept;
        kept.max_entries = TRY(retain.number("max_entries"));
        if (const auto age = TRY(retain.number("max_age_s")))
            kept.max_age_s = static_cast<std::int64_t>(*age);
        TRY(retain.done());
        out.retain = kept;
    }
    TRY(in.done());
    return BlockSchema(std::move(out));
}

Result<BlockSchema> Parser::composite(Object in, std::size_t depth) {
    CompositeSchema out;
    std::set<std::string> names;
    const std::span<const Value> forms = TRY(in.list("sections"));
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const std::string path = cat(in.path_of("sections"), "[", i, "]");
        Section each = TRY(section(forms[i], path, depth));
        TRY(check_new(names, each.name, path));
        out.sections.push_back(std::move(each));
    }
    TRY(in.done());
    if (out.sections.empty()) {
        return fault(in.path(), "missing", "a Composite needs at least one section, in 'sections'");
    }
    return BlockSchema(std::move(out));
}

// A section is an object, or a pair of name and schema.
Result<Section> Parser::section(const Value& form, const std::string& path, std::size_t depth) {
    if (form.is_list()) {
        const List& pair = form.as_list();
        if (pair.size() != 2 || !pair[0].is_string()) {
            return fault(path, "wrong_type", "a section as a pair is [\"name\", SCHEMA]");
        }
        TRY(check_section_name(pair[0].as_string(), path));
        BlockSchema nested = TRY(schema(pair[1], path, depth + 1));
        return Section{pair[0].as_string(), std::move(nested)};
    }
    Object in = TRY(Object::open(form, path));
    std::string name = TRY(in.text("name"));
    TRY(check_section_name(name, in.path_of("name")));
    const Value* inner = in.find("schema");
    if (inner == nullptr) return fault(path, "missing", "a section needs a schema");
    BlockSchema nested = TRY(schema(*inner, in.path_of("schema"), depth + 1));
    Section out{std::move(name), std::move(nested)};
    out.description = TRY(in.text("description"));
    out.read_only = TRY(in.flag("read_only", false));
    TRY(in.done());
    return out;
}

Result<std::vector<Field>> Parser::fields(Object& in) {
    std::vector<Field> out;
    std::set<std::string> names;
    const std::span<const Value> forms = TRY(in.list("fields"));
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const std::string path = cat(in.path_of("fields"), "[", i, "]");
        Field each = TRY(field(forms[i], path));
        TRY(check_new(names, each.name, path));
        out.push_back(std::move(each));
    }
    return out;
}

// Checks the default against the type at once, since a wrong one would only show on the first read.
Result<Field> Parser::field(const Value& form, const std::string& path) {
    Object in = TRY(Object::open(form, path));
    Field out;
    out.name = TRY(in.text("name"));
    TRY(check_name(out.name, in.path_of("name")));
    out.description = TRY(in.text("description"));
    const std::string type = TRY(in.text("field_type"));
    const std::optional<FieldType> known = enum_named<FieldType>(type);
    if (!known) {
        return fault(
            in.path_of("field_type"), type.empty() ? "missing" : "wrong_type",
            cat("'", type,
                "' is not a field type; the types are Text, Number, Boolean, List, Timestamp and "
                "Counter"));
    }
    out.type = *known;
    out.required = TRY(in.flag("required", false));
    out.read_only = TRY(in.flag("read_only", false));
    if (const Value* value = in.find("default")) {
        const Result<void> fits = check_field(out, *value);
        if (!fits) return fault(in.path_of("default"), "bad_default", fits.error().message());
        out.default_value = *value;
    }
    TRY(in.done());
    return out;
}

// Names become parts of container names and of paths, so their length and characters are limited.
Result<void> Parser::check_name(const std::string& name, const std::string& path) {
    if (++names_ > kMaxNames) {
        return fault(path, "too_many",
                     cat("a schema has at most ", kMaxNames, " fields and sections"),
                     {{"limit", kMaxNames}});
    }
    const bool control = std::ranges::any_of(
        name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
    if (name.empty() || control || !utf8::is_valid(name) ||
        utf8::count_code_points(name) > kMaxNameLength) {
        return fault(path, name.empty() ? "missing" : "bad_name",
                     cat("a name has 1 to ", kMaxNameLength,
                         " characters, and no control characters among them"));
    }
    return {};
}

// '/' separates sections in a path.
Result<void> Parser::check_section_name(const std::string& name, const std::string& path) {
    TRY(check_name(name, path));
    if (name.find('/') == std::string::npos) return {};
    return fault(path, "bad_name", "the name of a section holds no '/'");
}

// O(log n) for n names so far. Names are compared with their siblings only.
Result<void> Parser::check_new(std::set<std::string>& names, const std::string& name,
                               const std::string& path) const {
    if (names.insert(name).second) return {};
    return fault(path, "duplicate_name", cat("'", name, "' appears twice"), {{"name", name}});
}

// Flags are always written; an empty description and an absent default are left out.
Value to_value(const std::vector<Field>& fields) {
    List out;
    for (const Field& each : fields) {
        Map field{{"name", each.name}};
        if (!each.description.empty()) field.append("description", each.description);
        field.append("field_type", name_of(each.type));
        field.append("required", each.required);
        if (each.default_value) field.append("default", *each.default_value);
        field.append("read_only", each.read_only);
        out.emplace_back(std::move(field));
    }
    return out;
}

Map body_of(const TextSchema& text) {
    if (!text.viewport) return {};
    return {{"viewport", Map{{"start_line", text.viewport->start_line},
                             {"display_lines", text.viewport->display_lines}}}};
}

Map body_of(const MapSchema& map) {
    return {{"fields", to_value(map.fields)}};
}

Map body_of(const ListSchema& list) {
    Map out;
    if (list.item_schema) out.append("item_schema", to_value(**list.item_schema));
    if (list.max_items) out.append("max_items", *list.max_items);
    return out;
}

Map body_of(const LogSchema& log) {
    Map out{{"display_limit", log.display_limit},
            {"entry_schema", Map{{"timestamp", log.entry.timestamp},
                                 {"agent_id", log.entry.agent_id},
                                 {"fields", to_value(log.entry.fields)}}}};
    if (log.retain) {
        Map retain;
        if (log.retain->max_entries) retain.append("max_entries", *log.retain->max_entries);
        if (log.retain->max_age_s) retain.append("max_age_s", *log.retain->max_age_s);
        out.append("retain", std::move(retain));
    }
    return out;
}

Map body_of(const CompositeSchema& composite) {
    List sections;
    for (const Section& each : composite.sections) {
        Map section{{"name", each.name}, {"schema", to_value(*each.schema)}};
        if (!each.description.empty()) section.append("description", each.description);
        section.append("read_only", each.read_only);
        sections.emplace_back(std::move(section));
    }
    return {{"sections", std::move(sections)}};
}

}  // namespace

Result<BlockSchema> parse_schema(const Value& form) {
    return Parser().schema(form, "$", 1);
}

// Stands apart from parse_schema(), which must read every schema that is stored already.
Result<void> check_section_names(const BlockSchema& schema) {
    const auto* const composite = schema.as<CompositeSchema>();
    if (composite == nullptr) return {};
    for (const Section& each : composite->sections) {
        if (text::has_forbidden_in_name(each.name)) {
            return invalid("invalid_label",
                           cat("the name of the section '", text::escape_hidden(each.name),
                               "' has control, direction or line-separating characters"),
                           {{"section", text::escape_hidden(each.name)}});
        }
        TRY(check_section_names(*each.schema));
    }
    return {};
}

// The inverse of parse_schema(), in the full form: one schema has one text, so stored schemas can
// be compared.
Value to_value(const BlockSchema& schema) {
    Map body = std::visit([](const auto& shape) { return body_of(shape); }, schema.shape());
    return Map{{std::string(schema.name()), std::move(body)}};
}

}  // namespace quire::memory

// Reads a form back as a value, by toml++.
//
// The reader checks names and types as far as it can name a line for them; the kernel checks the
// value again when it is written.
//
// A part that is as it was shown passes unchecked. It may be older than the schema, or be written
// by somebody with more rights, and the person who edits another part cannot mend it.
#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "cli/exchange/memory_form.h"
#include "memory/validate.h"

namespace quire::cli {
namespace {

using memory::BlockSchema;
using memory::Field;

Failure invalid_form(std::size_t line, std::string_view what) {
    return invalid("invalid_form", cat("line ", line, ": ", what), {{"line", line}});
}
Failure invalid_form(const toml::source_region& where, std::string_view what) {
    return invalid_form(where.begin.line, what);
}

template <class T>
std::string streamed(const T& time) {
    std::ostringstream out;
    out << time;
    return out.str();
}

using Member = std::pair<const toml::key*, const toml::node*>;

// The members in the order of the text; the library sorts them by name.
std::vector<Member> members_of(const toml::table& table) {
    std::vector<Member> out;
    for (const auto& [key, node] : table) out.emplace_back(&key, &node);
    std::stable_sort(out.begin(), out.end(), [](const Member& a, const Member& b) {
        const toml::source_position& left = a.first->source().begin;
        const toml::source_position& right = b.first->source().begin;
        return left.line != right.line ? left.line < right.line : left.column < right.column;
    });
    return out;
}

Result<Value> form_value(const toml::node& node);

// The key "$" spells null. So writing adds one '$' to keys that are all '$', and reading takes one
// away.
Result<Value> object_of(const toml::table& table) {
    Map out;
    for (const auto& [key, node] : members_of(table)) {
        std::string name(key->str());
        if (!name.empty() && name.find_first_not_of('$') == std::string::npos) {
            if (name.size() == 1) {
                const auto* word = node->as_string();
                if (word != nullptr && word->get() == "null" && table.size() == 1) return Value();
                return invalid_form(key->source(),
                                    R"(only {"$" = "null"} is written with the key "$"; )"
                                    R"(a key that is "$" is written "$$")");
            }
            name.pop_back();
        }
        out.append(std::move(name), TRY(form_value(*node)));
    }
    return Value(std::move(out));
}

Result<Value> form_value(const toml::node& node) {
    if (const auto* text = node.as_string()) return Value(text->get());
    if (const auto* number = node.as_integer()) return Value(number->get());
    if (const auto* number = node.as_floating_point()) return Value(number->get());
    if (const auto* truth = node.as_boolean()) return Value(truth->get());
    if (const auto* time = node.as_date_time()) return Value(streamed(time->get()));
    if (const auto* time = node.as_date()) return Value(streamed(time->get()));
    if (const auto* time = node.as_time()) return Value(streamed(time->get()));
    if (const auto* array = node.as_array()) {
        List out;
        for (const toml::node& each : *array) out.push_back(TRY(form_value(each)));
        return Value(std::move(out));
    }
    return object_of(*node.as_table());
}

// "a, b, c".
template <class Named>
std::string names_of(const std::vector<Named>& all) {
    std::string out;
    for (const Named& each : all) out += cat(out.empty() ? "" : ", ", each.name);
    return out;
}

// The counterpart of FormWriter: one function for each kind of schema. `shown` is the value of the
// same part in the block as it was written out, or null where it had none.
class FormReader {
public:
    Result<Value> block(const toml::table& table, const BlockSchema& schema, const Value* shown) {
        if (schema.as<memory::TextSchema>() != nullptr) return only(table, "text", schema, shown);
        if (const auto* map = schema.as<memory::MapSchema>()) return fields(table, *map, shown);
        if (const auto* composite = schema.as<memory::CompositeSchema>())
            return sections(table, *composite, shown);
        const bool is_log = schema.as<memory::LogSchema>() != nullptr;
        return only(table, is_log ? "entries" : "items", schema, shown);
    }

private:
    // A block of one part. If the part is missing, a list is empty and a text stays as shown.
    static Result<Value> only(const toml::table& table, std::string_view name,
                              const BlockSchema& schema, const Value* shown) {
        for (const auto& [key, node] : members_of(table)) {
            if (key->str() == name) continue;
            return invalid_form(
                key->source(),
                cat("'", key->str(), "' is unknown here; the only part is '", name, "'"));
        }
        const toml::node* node = table.get(name);
        if (node == nullptr && name != "text") return Value(List());
        if (node == nullptr && shown != nullptr) return *shown;
        if (node == nullptr) return invalid_form(table.source(), cat("'", name, "' is missing"));
        Value value = TRY(form_value(*node));
        if (name == "text") {
            if (value.is_string()) return value;
            return invalid_form(node->source(), cat("'text' is a text, not ", kind_name(value)));
        }
        if (!value.is_list())
            return invalid_form(node->source(),
                                cat("'", name, "' is a list, not ", kind_name(value)));
        TRY(check_elements(*node->as_array(), value.as_list(), schema, shown));
        return value;
    }

    // Elements that were shown are accepted as they are, whoever wrote them.
    static Result<void> check_elements(const toml::array& nodes, const List& values,
                                       const BlockSchema& schema, const Value* shown) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            Result<void> fits;
            if (const auto* list = schema.as<memory::ListSchema>()) {
                const auto accepted = memory::accept_item(*list, values[i]);
                if (!accepted) fits = Failure(accepted.error());
            } else {
                const auto accepted =
                    memory::accept_entry(*schema.as<memory::LogSchema>(), values[i]);
                if (!accepted) fits = Failure(accepted.error());
            }
            if (fits) continue;
            if (shown != nullptr && shown->is_list() &&
                std::find(shown->as_list().begin(), shown->as_list().end(), values[i]) !=
                    shown->as_list().end())
                continue;
            const Value* field = fits.error().details().find("field");
            const bool named =
                field != nullptr && field->is_string() && !field->as_string().empty();
            return invalid_form(nodes[i].source(), cat(named ? cat(field->as_string(), ": ") : "",
                                                       fits.error().message()));
        }
        return {};
    }

    // A field that is missing in the form is missing in the value.
    static Result<Value> fields(const toml::table& table, const memory::MapSchema& map,
                                const Value* shown) {
        Map out;
        for (const auto& [key, node] : members_of(table)) {
            const Field* field = memory::find_field(map.fields, key->str());
            if (field == nullptr) {
                return invalid_form(key->source(), cat("there is no field '", key->str(),
                                                       "'; there are ", names_of(map.fields)));
            }
            Value value = TRY(form_value(*node));
            const Value* before = shown == nullptr ? nullptr : shown->get(field->name);
            const Result<void> fits = memory::check_field(*field, value);
            if (!fits && (before == nullptr || *before != value))
                return invalid_form(key->source(), cat(field->name, ": ", fits.error().message()));
            out.append(field->name, std::move(value));
        }
        return Value(std::move(out));
    }

    Result<Value> sections(const toml::table& table, const memory::CompositeSchema& composite,
                           const Value* shown) {
        Map out;
        for (const auto& [key, node] : members_of(table)) {
            const auto section =
                std::find_if(composite.sections.begin(), composite.sections.end(),
                             [name = key->str()](const auto& each) { return each.name == name; });
            if (section == composite.sections.end()) {
                return invalid_form(key->source(),
                                    cat("there is no section '", key->str(), "'; there are ",
                                        names_of(composite.sections)));
            }
            if (!node->is_table()) {
                return invalid_form(key->source(),
                                    cat("'", key->str(), "' is a section: [", key->str(), "]"));
            }
            out.append(section->name,
                       TRY(block(*node->as_table(), *section->schema,
                                 shown == nullptr ? nullptr : shown->get(section->name))));
        }
        // A list's header is written with its first item, so an empty list has none.
        for (const memory::Section& each : composite.sections) {
            if (each.read_only || out.find(each.name) != nullptr) continue;
            if (auto left = emptied(*each.schema)) out.append(each.name, std::move(*left));
        }
        return Value(std::move(out));
    }

    // The value of a section that the form leaves out: its lists are empty, the rest stays.
    static std::optional<Value> emptied(const BlockSchema& schema) {
        const bool is_list =
            schema.as<memory::ListSchema>() != nullptr || schema.as<memory::LogSchema>() != nullptr;
        if (is_list) return List();
        const auto* composite = schema.as<memory::CompositeSchema>();
        if (composite == nullptr) return std::nullopt;
        Map out;
        for (const memory::Section& each : composite->sections) {
            if (each.read_only) continue;
            if (auto left = emptied(*each.schema)) out.append(each.name, std::move(*left));
        }
        if (out.empty()) return std::nullopt;
        return Value(std::move(out));
    }
};

std::size_t line_at(std::string_view text, std::size_t byte) {
    return 1 + static_cast<std::size_t>(std::count(
                   text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n'));
}

}  // namespace

Result<Value> read_form(std::string_view form, const BlockSchema& schema, const Value& shown) {
    if (const auto bad = utf8::find_invalid(form))
        return invalid_form(line_at(form, *bad), "it is not UTF-8");
    if (schema.as<memory::TextSchema>() != nullptr) {
        // The form writer added a line end only to a text without one; another one that the person
        // typed stays.
        const bool added =
            shown.is_string() && !shown.as_string().empty() && shown.as_string().back() != '\n';
        if (added && form.ends_with('\n')) form.remove_suffix(1);
        return Value(form);
    }
    const toml::parse_result parsed = toml::parse(form);
    if (!parsed) {
        return invalid_form(parsed.error().source(),
                            cat("it is not TOML: ", parsed.error().description()));
    }
    return FormReader().block(parsed.table(), schema, &shown);
}

std::optional<std::size_t> line_of(std::string_view form, const BlockSchema& schema,
                                   const FormPlace& place) {
    if (schema.as<memory::TextSchema>() != nullptr) return std::nullopt;
    const toml::parse_result parsed = toml::parse(form);
    if (!parsed) return std::nullopt;
    const toml::table* table = &parsed.table();
    std::optional<std::size_t> line;
    // Descends to the place, as far as the form has it.
    const auto enter = [&](std::string_view name) -> const toml::node* {
        const auto at = table->find(name);
        if (at == table->end()) return nullptr;
        line = at->first.source().begin.line;
        return &at->second;
    };
    std::string_view section = place.section;
    while (!section.empty()) {
        const std::string_view name = section.substr(0, section.find('/'));
        section.remove_prefix(std::min(name.size() + 1, section.size()));
        const toml::node* inner = enter(name);
        if (inner == nullptr || !inner->is_table()) return line;
        table = inner->as_table();
    }
    if (!place.index) {
        enter(place.field.empty() ? "text" : place.field);
        return line;
    }
    for (const std::string_view name : {"items", "entries"}) {
        const toml::node* list = enter(name);
        if (list == nullptr || !list->is_array()) continue;
        if (const toml::node* item = list->as_array()->get(*place.index))
            line = item->source().begin.line;
    }
    return line;
}

}  // namespace quire::cli

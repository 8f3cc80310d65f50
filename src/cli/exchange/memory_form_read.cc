// The way back from a form to a value, by toml++; what it does not check the gate does.
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

Failure wrong(std::size_t line, std::string_view what) {
    return invalid("invalid_form", cat("line ", line, ": ", what), {{"line", line}});
}
Failure wrong(const toml::source_region& where, std::string_view what) {
    return wrong(where.begin.line, what);
}

template <class T>
std::string streamed(const T& time) {
    std::ostringstream out;
    out << time;
    return out.str();
}

using Member = std::pair<const toml::key*, const toml::node*>;

// In the order in which they stand in the text; the library sorts them by name.
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

Result<Value> value_of(const toml::node& node);

Result<Value> object_of(const toml::table& table) {
    Map out;
    for (const auto& [key, node] : members_of(table)) {
        std::string name(key->str());
        if (!name.empty() && name.find_first_not_of('$') == std::string::npos) {
            if (name.size() == 1) {
                const auto* word = node->as_string();
                if (word != nullptr && word->get() == "null" && table.size() == 1) return Value();
                return wrong(key->source(), R"(only {"$" = "null"} is written with the key "$"; )"
                                            R"(a key that is "$" is written "$$")");
            }
            name.pop_back();
        }
        out.append(std::move(name), TRY(value_of(*node)));
    }
    return Value(std::move(out));
}

Result<Value> value_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return Value(text->get());
    if (const auto* number = node.as_integer()) return Value(number->get());
    if (const auto* number = node.as_floating_point()) return Value(number->get());
    if (const auto* truth = node.as_boolean()) return Value(truth->get());
    if (const auto* time = node.as_date_time()) return Value(streamed(time->get()));
    if (const auto* time = node.as_date()) return Value(streamed(time->get()));
    if (const auto* time = node.as_time()) return Value(streamed(time->get()));
    if (const auto* array = node.as_array()) {
        List out;
        for (const toml::node& each : *array) out.push_back(TRY(value_of(each)));
        return Value(std::move(out));
    }
    return object_of(*node.as_table());
}

// "a, b and c" of what there may be.
template <class Named>
std::string names_of(const std::vector<Named>& all) {
    std::string out;
    for (const Named& each : all) out += cat(out.empty() ? "" : ", ", each.name);
    return out;
}

class Reader {
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
    // A block that has one part. A list without it is empty; a text stays as it was shown.
    static Result<Value> only(const toml::table& table, std::string_view name,
                              const BlockSchema& schema, const Value* shown) {
        for (const auto& [key, node] : members_of(table)) {
            if (key->str() == name) continue;
            return wrong(key->source(),
                         cat("'", key->str(), "' is not known here; there is '", name, "' alone"));
        }
        const toml::node* node = table.get(name);
        if (node == nullptr && name != "text") return Value(List());
        if (node == nullptr && shown != nullptr) return *shown;
        if (node == nullptr) return wrong(table.source(), cat("'", name, "' is missing"));
        Value value = TRY(value_of(*node));
        if (name == "text") {
            if (value.is_string()) return value;
            return wrong(node->source(), cat("'text' is a text, not ", kind_name(value)));
        }
        if (!value.is_list())
            return wrong(node->source(), cat("'", name, "' is a list, not ", kind_name(value)));
        TRY(check_elements(*node->as_array(), value.as_list(), schema, shown));
        return value;
    }

    // Those that were there before are as they were; whoever wrote them.
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
            return wrong(nodes[i].source(),
                         cat(named ? cat(field->as_string(), ": ") : "", fits.error().message()));
        }
        return {};
    }

    static Result<Value> fields(const toml::table& table, const memory::MapSchema& map,
                                const Value* shown) {
        Map out;
        for (const auto& [key, node] : members_of(table)) {
            const Field* field = memory::find_field(map.fields, key->str());
            if (field == nullptr) {
                return wrong(key->source(), cat("there is no field '", key->str(), "'; there are ",
                                                names_of(map.fields)));
            }
            Value value = TRY(value_of(*node));
            const Value* before = shown == nullptr ? nullptr : shown->get(field->name);
            const Result<void> fits = memory::check_field(*field, value);
            if (!fits && (before == nullptr || *before != value))
                return wrong(key->source(), cat(field->name, ": ", fits.error().message()));
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
                return wrong(key->source(), cat("there is no section '", key->str(),
                                                "'; there are ", names_of(composite.sections)));
            }
            if (!node->is_table()) {
                return wrong(key->source(),
                             cat("'", key->str(), "' is a section: [", key->str(), "]"));
            }
            out.append(section->name,
                       TRY(block(*node->as_table(), *section->schema,
                                 shown == nullptr ? nullptr : shown->get(section->name))));
        }
        // The header of a list is that of its first item: without items nothing is left of it.
        for (const memory::Section& each : composite.sections) {
            if (each.read_only || out.find(each.name) != nullptr) continue;
            if (auto left = emptied(*each.schema)) out.append(each.name, std::move(*left));
        }
        return Value(std::move(out));
    }

    // What a section says that a form has nothing of: its lists are empty, the rest of it stays.
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
        return wrong(line_at(form, *bad), "it is not UTF-8");
    if (schema.as<memory::TextSchema>() != nullptr) {
        const bool added =
            shown.is_string() && !shown.as_string().empty() && shown.as_string().back() != '\n';
        if (added && form.ends_with('\n')) form.remove_suffix(1);
        return Value(form);
    }
    const toml::parse_result parsed = toml::parse(form);
    if (!parsed) {
        return wrong(parsed.error().source(),
                     cat("it is not TOML: ", parsed.error().description()));
    }
    return Reader().block(parsed.table(), schema, &shown);
}

std::optional<std::size_t> line_of(std::string_view form, const BlockSchema& schema,
                                   const FormPlace& place) {
    if (schema.as<memory::TextSchema>() != nullptr) return std::nullopt;
    const toml::parse_result parsed = toml::parse(form);
    if (!parsed) return std::nullopt;
    const toml::table* table = &parsed.table();
    std::optional<std::size_t> line;
    // Down to what has a line, as far as the form goes.
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

// Reads TOML tables by the schemas of json::Fields.
//
// The schema of a field list already says each member's type, bounds and words, so a message about
// a wrong value is derived from it. Only the few types that settings have are known here.
#include "cli/settings/toml_section.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/check.h"

namespace quire::cli {
namespace {

template <class Words>
std::string listed(const Words& words) {
    std::string out;
    for (const auto& word : words) cat_to(out, cat(out.empty() ? "" : ", ", word));
    return out;
}

std::vector<std::string> words_of_enum(const Value& schema) {
    std::vector<std::string> words;
    for (const Value& word : schema.get("enum")->as_list()) words.push_back(word.as_string());
    return words;
}

bool is_list_of_strings(const toml::node& node) {
    const toml::array* array = node.as_array();
    return array != nullptr && std::all_of(array->begin(), array->end(),
                                           [](const auto& each) { return each.is_string(); });
}

}  // namespace

std::size_t line_of(const toml::node& node) {
    return node.source().begin.line;
}

Failure invalid_config(std::string_view file, std::size_t line, std::string_view what) {
    return invalid("invalid_config", cat(file, ":", line, ": ", what),
                   Map{{"file", file}, {"line", line}});
}

// The recursion is as deep as the parser of TOML allows.
Value value_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return number->get();
    if (const auto* number = node.as_floating_point(); number && std::isfinite(number->get()))
        return number->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* array = node.as_array()) {
        List list;
        for (const toml::node& each : *array) list.push_back(value_of(each));
        return list;
    }
    if (const auto* table = node.as_table()) {
        Map map;
        for (const auto& [key, each] : *table) map.set(key.str(), value_of(each));
        return map;
    }
    std::ostringstream text;
    if (const auto* date = node.as_date()) text << date->get();
    if (const auto* time = node.as_time()) text << time->get();
    if (const auto* moment = node.as_date_time()) text << moment->get();
    if (const auto* number = node.as_floating_point()) text << number->get();
    return text.str();
}

// known_ keeps the order in which keys were asked for, in which end() lists them.
const toml::node* Section::node(std::string_view key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
    return table_.get(key);
}

std::vector<std::string> Section::keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : table_) keys.emplace_back(key.str());
    return keys;
}

std::string Section::full(std::string_view key) const {
    return name_.empty() ? std::string(key) : cat(name_, ".", key);
}

Failure Section::wrong(const toml::node& at, std::string_view what) const {
    return invalid_config(file_, line_of(at), what);
}

Result<std::vector<std::string>> Section::words(std::string_view key) {
    using Words = std::vector<std::string>;
    return json::decode<Words>(TRY(member(key, *node(key), json::Codec<Words>::schema())));
}

// No message shows the value: it may be a token, and messages reach logs.
Result<std::map<std::string, std::string>> Section::strings(std::string_view key,
                                                            std::string_view hint) {
    std::map<std::string, std::string> out;
    const auto take_all = [&](Section& section) -> Result<void> {
        for (const std::string& name : section.keys()) {
            const toml::node& at = *section.node(name);
            const bool is_name = !name.empty() && name.find_first_of(std::string_view("=\0", 2)) ==
                                                      std::string::npos;
            if (!at.is_string() || !is_name) return section.wrong(at, hint);
            const std::string& value = at.as_string()->get();
            if (value.find('\0') != std::string::npos) return section.wrong(at, hint);
            out.emplace(name, value);
        }
        return {};
    };
    TRY(table(key, take_all));
    return out;
}

Result<void> Section::end() const {
    for (const auto& [key, value] : table_) {
        if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
        return invalid_config(
            file_, key.source().begin.line,
            cat("unknown key '", full(key.str()), "', expected one of: ", listed(known_)));
    }
    return {};
}

// Members that are absent are left out of the result, so that json::decode() leaves the defaults of
// the struct. All fields of the list are asked for, present or not, before end() looks.
Result<Value> Section::members(const Map& schema) {
    Map out;
    const Value* required = schema.find("required");
    for (const Map::Entry& field : schema.find("properties")->as_map()) {
        const toml::node* at = node(field.key);
        if (at != nullptr) {
            out.append(field.key, TRY(member(field.key, *at, field.value)));
            continue;
        }
        const auto is_this = [&](const Value& name) { return name == Value(field.key); };
        if (required == nullptr ||
            std::none_of(required->as_list().begin(), required->as_list().end(), is_this))
            continue;
        return wrong(cat(name_, " needs ", field.key, ", such as ", field.key, " = ",
                         field.value.get("description")->as_string()));
    }
    return Value(std::move(out));
}

Result<Value> Section::member(std::string_view key, const toml::node& at,
                              const Value& schema) const {
    const auto is_of_type = [&](std::string_view type) {
        const Value* found = schema.get("type");
        return found != nullptr && *found == Value(type);
    };
    if (schema.get("enum") != nullptr || is_of_type("string")) {
        if (!at.is_string()) return wrong(at, cat(full(key), " is a string, such as \"...\""));
        const std::string& word = at.as_string()->get();
        if (schema.get("enum") == nullptr) return Value(word);
        const std::vector<std::string> words = words_of_enum(schema);
        if (std::find(words.begin(), words.end(), word) != words.end()) return Value(word);
        return wrong(at,
                     cat(full(key), " cannot be '", word, "', expected one of: ", listed(words)));
    }
    if (is_of_type("boolean")) {
        if (!at.is_boolean()) return wrong(at, cat(full(key), " is true or false"));
    } else if (is_of_type("integer")) {
        const std::int64_t least = schema.get("minimum")->as_int();
        const std::int64_t most = schema.get("maximum")->as_int();
        // A value of another type becomes one below the least, and gets the message about the
        // bounds.
        const std::int64_t number = at.is_integer() ? at.as_integer()->get() : least - 1;
        if (number < least || number > most)
            return wrong(at, cat(full(key), " is a whole number from ", least, " to ", most));
    } else {
        CHECK(is_of_type("array"));
        if (!is_list_of_strings(at))
            return wrong(at, cat(full(key), " is a list of strings, such as [\"...\"]"));
    }
    return value_of(at);
}

}  // namespace quire::cli

// A table of operations has the JSON schema of each operation's arguments, from which this makes
// the options, their help, and the reading of what was typed:
//
//     type in the schema       on the command line
//     boolean                  a flag
//     string, enum             the word as it is
//     two whole numbers        A:B
//     list of words            words with commas, or JSON
//     anything else            JSON; text if the schema takes any value
//
// Agents see this schema too, so a new operation of a tool is a new subcommand without a line here.
#include "cli/commands/operation_command.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"
#include "cli/commands/workspace_path.h"
#include "json/json.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

using tools::Operation;
using tools::Operations;

// The texts typed for the arguments of one operation, by their names. Entries are made before
// parsing and stay where they are: the parser keeps references to them.
struct TypedArguments {
    std::map<std::string, std::string> texts;
    std::map<std::string, bool> flags;
};

bool has_type(const Value& schema, std::string_view type) {
    return json::text_in(schema, "type") == type;
}

bool is_required(const Operation& operation, const std::string& name) {
    const Value* const required = operation.arguments.find("required");
    return required != nullptr &&
           std::ranges::find(required->as_list(), Value(name)) != required->as_list().end();
}

const Map& arguments_of(const Operation& operation) {
    static const Map none;
    const Value* const members = operation.arguments.find("properties");
    return members == nullptr ? none : members->as_map();
}

// The names of an object's members, if all of them are whole numbers: {"start", "end"}.
std::vector<std::string> number_members(const Value& schema) {
    std::vector<std::string> out;
    const Value* const members = schema.get("properties");
    if (members == nullptr) return out;
    for (const Map::Entry& each : members->as_map()) {
        if (!has_type(each.value, "integer")) return {};
        out.push_back(each.key);
    }
    return out;
}

bool is_list_of_words(const Value& schema) {
    const Value* const items = schema.get("items");
    return has_type(schema, "array") && items != nullptr &&
           (has_type(*items, "string") || items->get("enum") != nullptr);
}

// An empty text is a list of one empty word.
Value words_in(const std::string& text) {
    List out;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        out.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return out;
}

// "2:9" for {"start": 2, "end": 9}; null for any other text.
Value pair_in(const std::vector<std::string>& names, const std::string& text) {
    const std::size_t colon = text.find(':');
    if (names.size() != 2 || colon == std::string::npos) return {};
    const auto first = json::parse(text.substr(0, colon));
    const auto second = json::parse(text.substr(colon + 1));
    if (!first || !second || !first->is_int() || !second->is_int()) return {};
    return Map{{names[0], *first}, {names[1], *second}};
}

// --- the parser ---

// "archival_label" as an option: "--archival-label".
std::string option_name(std::string name) {
    std::ranges::replace(name, '_', '-');
    return cat("--", name);
}

// The word for a value in --help, which completions read as well. AGENT and LABEL are types that
// completions know how to fill.
std::string type_word(const std::string& name, const Value& schema) {
    if (number_members(schema).size() == 2) {
        std::string out = cat(number_members(schema)[0], ":", number_members(schema)[1]);
        std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::toupper(c); });
        return out;
    }
    std::string out = name == "with" ? "AGENT" : name == "archival_label" ? "LABEL" : name;
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::toupper(c); });
    return out;
}

std::string help_of(const Value& schema) {
    std::string out = json::text_in(schema, "description");
    const bool takes_json = !has_type(schema, "string") && !has_type(schema, "integer") &&
                            !has_type(schema, "number") && schema.get("enum") == nullptr &&
                            number_members(schema).empty() && !is_list_of_words(schema);
    if (is_list_of_words(schema)) cat_to(out, cat(out.empty() ? "" : "; ", "separated by commas"));
    if (takes_json) cat_to(out, cat(out.empty() ? "" : "; ", "JSON"));
    return out;
}

// An argument that may be left out and still needs no option: what the operation is about.
bool names_the_object(const Operation& operation, const std::string& name) {
    const bool any_required = std::ranges::any_of(
        arguments_of(operation),
        [&](const Map::Entry& each) { return is_required(operation, each.key); });
    return !any_required && (name == "path" || name == "pattern" || name == "label");
}

void add_argument(CLI::App& app, const Operation& operation, const Map::Entry& member,
                  TypedArguments& typed) {
    const std::string& name = member.key;
    const Value& schema = member.value;
    if (has_type(schema, "boolean")) {
        app.add_flag(option_name(name), typed.flags[name], json::text_in(schema, "description"));
        return;
    }
    const bool required = is_required(operation, name);
    const std::string names = required ? name
                              : names_the_object(operation, name)
                                  ? cat(name, ",", option_name(name))
                                  : option_name(name);
    CLI::Option* const option = app.add_option(names, typed.texts[name], help_of(schema))
                                    ->type_name(type_word(name, schema));
    if (required) option->required();
    if (const Value* const words = schema.get("enum")) {
        std::vector<std::string> known;
        for (const Value& word : words->as_list()) known.push_back(word.as_string());
        option->check(CLI::IsMember(known));
    }
}

// --- the call ---

bool is_path(std::string_view name) {
    return name == "path" || name == "paths";
}

// Only what was typed is sent, so that the tool's own defaults hold.
Result<Map> call_arguments(const Globals& globals, const CLI::App& app, const Operations& table,
                           const Operation& operation, const TypedArguments& typed) {
    Map out{{table.argument, operation.name}};
    for (const Map::Entry& member : arguments_of(operation)) {
        const std::string& name = member.key;
        const bool is_flag = has_type(member.value, "boolean");
        const bool positional = is_required(operation, name) || names_the_object(operation, name);
        if (app.count(positional ? name : option_name(name)) == 0) continue;
        if (is_flag) {
            out.append(name, typed.flags.at(name));
            continue;
        }
        std::string text = typed.texts.at(name);
        // A second "-" would find the input at its end.
        if (text == "-") text = read_standard_input();
        Value value = TRY(typed_argument(name, member.value, std::move(text)));
        if (is_path(name) && value.is_string()) value = workspace_path(globals, value.as_string());
        if (is_path(name) && value.is_list()) {
            for (Value& each : value.as_list()) each = workspace_path(globals, each.as_string());
        }
        out.append(name, std::move(value));
    }
    return out;
}

CommandAction operation_action(std::string_view tool, const Operations& table,
                               const Operation& operation) {
    return [tool, &table, &operation](CLI::App& app) -> CommandRun {
        const auto typed = std::make_shared<TypedArguments>();
        for (const Map::Entry& member : arguments_of(operation))
            add_argument(app, operation, member, *typed);
        return [tool, &table, &operation, typed, &app](const Globals& globals) -> Result<int> {
            // The profile for models counts lines from 1 and writes text for a reader.
            Globals as_reader = globals;
            as_reader.profile = "model";
            Map arguments = TRY(call_arguments(globals, app, table, operation, *typed));
            CommandClient client = TRY(CommandClient::attach(as_reader));
            const auto called = TRY(client.call_for_reader(tool, std::move(arguments)));
            return globals.json ? output_json(called.structured) : output(drawn_text(called.text));
        };
    };
}

// "create(label, schema?)".
std::string call_form(const Operation& operation) {
    std::string out;
    for (const Map::Entry& member : arguments_of(operation)) {
        cat_to(out, cat(out.empty() ? "" : ", ", member.key,
                        is_required(operation, member.key) ? "" : "?"));
    }
    return cat(operation.name, "(", out, ")");
}

}  // namespace

// The order matters: a string is never parsed, since "12" may be a label; a list in brackets is
// JSON.
Result<Value> typed_argument(std::string_view name, const Value& schema, std::string text) {
    if (has_type(schema, "string") || schema.get("enum") != nullptr) return Value(std::move(text));
    if (Value pair = pair_in(number_members(schema), text); !pair.is_null()) return pair;
    if (is_list_of_words(schema) && !text.starts_with('[')) return words_in(text);
    auto parsed = json::parse(text, {.exact_integers = true});
    if (parsed) return parsed;
    const Value* const type = schema.get("type");
    const bool takes_text =
        type == nullptr ||
        (type->is_list() &&
         std::ranges::find(type->as_list(), Value("string")) != type->as_list().end());
    if (takes_text) return Value(std::move(text));
    return invalid("invalid_arguments",
                   cat(name, " is ", type_word(std::string(name), schema), " or JSON, not '",
                       text::escape_hidden(text), "'"),
                   {{"argument", name}});
}

// The table's sentences for models take the style of --help: a capital letter, and no full stop.
tools::Operations with_sentences(std::string_view tool, Operations table) {
    for (Operation& each : table.all) {
        if (each.says.empty()) {
            each.says = cat("The tool ", tool, ": ", call_form(each));
            continue;
        }
        each.says[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(each.says[0])));
        if (each.says.ends_with('.')) each.says.pop_back();
    }
    return table;
}

Command operation_command(const OperationCommand& words, const Operations& table) {
    Command out{.name = words.name, .about = words.about, .example = words.example};
    for (const Operation& operation : table.all) {
        out.subcommands.push_back({.name = operation.name,
                                   .about = operation.says,
                                   .example = {},
                                   .action = operation_action(words.tool, table, operation),
                                   .touches = operation.reads ? Touches::looks : Touches::writes});
    }
    return out;
}

}  // namespace quire::cli

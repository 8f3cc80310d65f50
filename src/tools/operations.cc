// Each function reads the rows anew: a tool has tens of operations with a few arguments each, and
// only settle() runs at every call.
//
//   the rows  -> input_schema()     all arguments in one flat object, the word as an enum
//             -> lines(), forms()   what each operation takes, in the description
//             -> settle()           what this call's operation takes, exactly
//
// A flat object takes the fewest words. It lets through arguments of other operations, which
// settle() refuses by name.
#include "tools/operations.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"

namespace quire::tools {

namespace {

bool is_one_of(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

// The schemas of an operation's arguments, by name.
const Map& members_of(const Operation& operation) {
    static const Map none;
    const Value* const members = operation.arguments.find("properties");
    return members == nullptr ? none : members->as_map();
}

// Returns true if the operation requires this argument.
bool needs(const Operation& operation, const std::string& member) {
    const Value* const required = operation.arguments.find("required");
    return required != nullptr &&
           std::ranges::find(required->as_list(), Value(member)) != required->as_list().end();
}

// "path, content?": an argument that may be left out has a question mark.
std::string argument_names(const Operation& operation) {
    std::string out;
    for (const Map::Entry& member : members_of(operation)) {
        cat_to(out,
               cat(out.empty() ? "" : ", ", member.key, needs(operation, member.key) ? "" : "?"));
    }
    return out;
}

std::string signature(const Operation& operation) {
    return cat(operation.name, "(", argument_names(operation), ")");
}

// The words for the operation, after a colon.
std::string explained(const Operation& operation) {
    return operation.says.empty() ? "" : cat(": ", operation.says);
}

}  // namespace

const Operation* Operations::find(std::string_view name) const {
    const auto at = std::ranges::find(all, name, &Operation::name);
    return at == all.end() ? nullptr : &*at;
}

std::vector<std::string> Operations::names() const {
    std::vector<std::string> out;
    out.reserve(all.size());
    for (const Operation& each : all) out.push_back(each.name);
    return out;
}

std::vector<std::string> Operations::twins() const {
    std::vector<std::string> out;
    for (const Operation& each : all) {
        if (!each.twin.title.empty()) out.push_back(each.name);
    }
    return out;
}

std::vector<std::string> Operations::listed(const std::vector<std::string>& names) const {
    std::vector<std::string> out;
    for (const std::string& name : names) {
        const Operation* const row = find(name);
        if (row == nullptr || !row->is_unlisted) out.push_back(name);
    }
    return out;
}

// Only the list of words grows: an unlisted operation takes arguments that listed ones have.
Value Operations::accepted_schema(Value published) const {
    for (const Operation& each : all) {
        if (!each.is_unlisted) continue;
        Map& word = published.as_map().find("properties")->as_map().find(argument)->as_map();
        word.find("enum")->as_list().emplace_back(each.name);
    }
    return published;
}

Value Operations::input_schema(const std::vector<std::string>& names) const {
    List words;
    for (const Operation& each : all) {
        if (is_one_of(names, each.name)) words.emplace_back(each.name);
    }
    Map properties{{argument, Map{{"enum", std::move(words)}}}};
    List required{argument};
    for (const bool needed : {true, false}) {
        for (const Operation& each : all) {
            if (!is_one_of(names, each.name)) continue;
            for (const Map::Entry& member : members_of(each)) {
                // Arguments that some operation requires come first, for a model reads from the
                // top.
                if (needs(each, member.key) != needed) continue;
                const Value* const there = properties.find(member.key);
                CHECK(there == nullptr || *there == member.value);
                if (there != nullptr) continue;
                properties.append(member.key, member.value);
                if (std::ranges::all_of(all,
                                        [&](const auto& row) { return needs(row, member.key); }))
                    required.emplace_back(member.key);
            }
        }
    }
    return Map{{"type", "object"},
               {"properties", std::move(properties)},
               {"required", std::move(required)},
               {"additionalProperties", false}};
}

std::string Operations::lines(const std::vector<std::string>& names) const {
    std::string out;
    for (const Operation& each : all) {
        // A row without arguments is one of another program's tool, whose description says what
        // there is to say.
        if (each.arguments.empty() || !is_one_of(names, each.name)) continue;
        cat_to(out, cat(out.empty() ? "" : "\n", signature(each), explained(each)));
    }
    return out;
}

std::string Operations::forms() const {
    std::string out;
    for (const Operation& each : all) {
        const std::string names = argument_names(each);
        cat_to(out, cat(out.empty() ? "" : "\n", "{", argument, ": ", each.name,
                        names.empty() ? "" : ", ", names, "}", explained(each)));
    }
    return out;
}

Result<void> Operations::settle(Map& arguments) const {
    const Value* const word = arguments.find(argument);
    const Operation* const operation =
        word != nullptr && word->is_string() ? find(word->as_string()) : nullptr;
    if (operation == nullptr || operation->arguments.empty()) return {};
    const auto wrong = [&](std::string_view how, std::string_view key, const std::string& name) {
        return invalid(
            "invalid_argument",
            cat(argument, " ", operation->name, how, name, "; call it as ", signature(*operation)),
            {{std::string(key), name}});
    };
    for (const auto& [from, to] : operation->renamed) {
        Value* const given = arguments.find(from);
        // A call with both names keeps both, and is refused below for the old one.
        if (given == nullptr || arguments.contains(to)) continue;
        Value moved = std::move(*given);
        arguments.erase(from);
        arguments.append(to, std::move(moved));
    }
    for (const Map::Entry& member : members_of(*operation)) {
        if (needs(*operation, member.key) && !arguments.contains(member.key))
            return wrong(" needs ", "missing", member.key);
    }
    for (const Map::Entry& each : arguments) {
        if (each.key != argument && !members_of(*operation).contains(each.key))
            return wrong(" does not take ", "unknown", each.key);
    }
    return {};
}

}  // namespace quire::tools

// A call may name a tool in four ways, and all of them lead to an entry and at most one operation:
//
//   block_edit          a tool
//   block.edit          the same tool, as some clients spell it
//   context.set_field   an operation of the tool context
//   context_view        the twin of an operation, a tool of its own in lists
//
// Names are searched in this order, so that no tool is hidden by an operation. A profile has some
// tens of tools, so each search walks all of them.
#include "tools/shelf.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "json/schema/object_members.h"
#include "text/ecma_pattern.h"

namespace quire::tools {

namespace {

json::Schema compiled(const Value& schema) {
    // Strict: a keyword that the compiler does not know would be a promise that no call is held to.
    Result<json::Schema> made = json::Schema::compile(schema, {.strict = true});
    CHECK(made.has_value());
    return std::move(*made);
}

// The operation that a dotted name means among the arguments. Error: invalid_argument
// "invalid_argument" where they name another one.
Result<void> set_operation(Map& arguments, const Operations& operations, std::string_view name,
                           std::string_view word) {
    const Value* const given = arguments.find(operations.argument);
    if (given != nullptr && *given != Value(word)) {
        return invalid("invalid_argument",
                       cat(name, " is the operation ", word, ", and the argument ",
                           operations.argument, " names another; leave it out"));
    }
    arguments.set(operations.argument, word);
    return {};
}

// A call of a twin names no operation, and no argument that the twin leaves out. Error:
// invalid_argument "invalid_argument" {unknown}.
Result<void> check_twin(const Operation::Twin& twin, const Operations& operations,
                        const Map& arguments) {
    for (const Map::Entry& each : arguments) {
        if (each.key != operations.argument &&
            std::ranges::find(twin.without, each.key) == twin.without.end())
            continue;
        return invalid("invalid_argument",
                       cat("there is no argument \"", each.key, "\" here; leave it out"),
                       {{"unknown", each.key}});
    }
    return {};
}

}  // namespace

Result<json::Schema> accepting(const ToolInfo& info) {
    if (!info.foreign) return compiled(info.operations.accepted_schema(info.input_schema));
    return json::Schema::compile(info.input_schema, {.patterns = text::ecma_pattern});
}

const json::Schema& Entry::accepts() const {
    std::call_once(compiled_, [this] {
        Result<json::Schema> made = accepting(info);
        CHECK(made.has_value());  // A foreign tool's schema was compiled before it was added.
        accepts_ = std::move(*made);
    });
    return *accepts_;
}

const Entry* Shelf::published(std::string_view name) const {
    const auto at = std::find_if(entries.begin(), entries.end(),
                                 [&](const Entry& entry) { return entry.info.name == name; });
    return at == entries.end() ? nullptr : &*at;
}

NamedTool Shelf::twin(std::string_view name) const {
    for (const Entry& entry : entries) {
        const std::string& tool = entry.info.name;
        if (!name.starts_with(tool) || name.substr(tool.size(), 1) != "_") continue;
        const Operation* const row = entry.info.operations.find(name.substr(tool.size() + 1));
        if (row != nullptr && !row->twin.title.empty()) return {&entry, row->name, &row->twin};
    }
    return {};
}

NamedTool Shelf::find(std::string_view name) const {
    if (const Entry* entry = published(published_name(name))) return {entry};
    if (const NamedTool named = twin(name); named.entry != nullptr) return named;

    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return {};
    const Entry* entry = published(name.substr(0, dot));
    const std::string_view word = name.substr(dot + 1);
    const bool there = entry != nullptr && entry->info.operations.find(word) != nullptr;
    return there ? NamedTool{entry, word} : NamedTool{};
}

CallArguments call_arguments(const NamedTool& named, std::string_view name, Value arguments) {
    CallArguments given{std::move(arguments)};
    if (given.arguments.is_null()) given.arguments = Map{};
    // Some clients send the object as JSON in a string. It is unwrapped once: no string in it is
    // unwrapped again.
    if (given.arguments.is_string()) {
        std::optional<Value> inner = json::unwrapped(given.arguments.as_string());
        if (inner && inner->is_map()) given = {std::move(*inner), true};
    }
    // The schema refuses arguments that are no object.
    if (!given.arguments.is_map() || named.operation.empty()) return given;
    const Operations& operations = named.entry->info.operations;
    Map& members = given.arguments.as_map();
    auto fits =
        named.twin == nullptr ? Result<void>() : check_twin(*named.twin, operations, members);
    if (fits) fits = set_operation(members, operations, name, named.operation);
    if (!fits) given.conflict = std::move(fits).error();
    return given;
}

std::string_view operation_of(const Operations& operations, std::string_view dotted,
                              const Value& arguments) {
    if (!dotted.empty()) return dotted;
    const Value* const word = arguments.get(operations.argument);
    if (word == nullptr || !word->is_string()) return {};
    const Operation* const named = operations.find(word->as_string());
    return named == nullptr ? std::string_view() : named->name;
}

}  // namespace quire::tools

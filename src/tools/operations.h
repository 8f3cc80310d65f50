// Operations: a tool that does several things is one table, with a row for each of them.
//
// One argument of the tool names the operation of a call. Its row says what the operation does,
// whether it only reads, and which arguments it takes. The tool's input schema, description and
// annotations, the check of a call, and the rules that allow some operations are all read from the
// rows. tools/operation_tool.h adds to each row the function that carries it out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"

namespace quire::tools {

// One row of the table.
struct Operation {
    std::string name;
    bool reads = false;  // It changes nothing.
    // A read-only tool TOOL_OPERATION that profile `model` publishes for it as well, so that a
    // client can allow reads alone. A call of it is a call of the operation.
    struct Twin {
        std::string title = {};                 // "" for no twin.
        std::vector<std::string> without = {};  // Arguments of the operation that it does not take.
    };
    Twin twin = {};
    // The word belongs to an older form of the tool: it is accepted and not published.
    bool is_unlisted = false;

    std::string says = {};  // The operation does this, in a few words.
    // An argument's name in an older form of the tool, which is still accepted for the new name.
    struct Renamed {
        std::string from;
        std::string to;
    };
    std::vector<Renamed> renamed = {};
    // The JSON Schema of its arguments, an object. Empty for a tool of another program: its own
    // schema says what an operation takes.
    Map arguments = {};
};

// The table of a tool.
struct Operations {
    std::string argument = {};  // "operation" or "command"; "" for a tool that does one thing.
    std::vector<Operation> all = {};

    bool empty() const { return all.empty(); }
    // nullptr if no operation has that name.
    const Operation* find(std::string_view name) const;
    std::vector<std::string> names() const;
    std::vector<std::string> twins() const;  // The names of those that have a twin.
    // Returns the published ones among `names`, in their order. A name that is no operation of the
    // tool stays.
    std::vector<std::string> listed(const std::vector<std::string>& names) const;
    // Returns the schema that calls are checked against: the published one with the unlisted words.
    // Rules may forbid an unlisted operation like any other.
    Value accepted_schema(Value published) const;

    // The input schema for calls of `names`: the operation's word and the members that these
    // operations take, required ones first. A member is required if every operation of the tool
    // requires it; settle() checks what one operation needs beyond that. Two operations that take a
    // member of one name give it the same schema (CHECK).
    Value input_schema(const std::vector<std::string>& names) const;
    // A line for each operation of `names`: "append(path, content): adds text at the end." An
    // argument that may be left out has a question mark. "" for a tool of another program.
    std::string lines(const std::vector<std::string>& names) const;
    // A line for each operation as an item of an array, which names its row by `argument`:
    // "{op: insert, line, content}: after line".
    std::string forms() const;
    // Gives old argument names their new names, then checks that the operation takes each argument
    // and misses none. Does nothing for a call that names no operation, which the schema refuses,
    // and for a tool of another program. O(arguments). Errors: invalid_argument "invalid_argument"
    // {missing} or {unknown}; the message lists what the operation takes.
    Result<void> settle(Map& arguments) const;
};

}  // namespace quire::tools

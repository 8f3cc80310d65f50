// OperationTool: a tool written as a table, a row for each operation.
//
//     void append_text(Notes& notes, OperationCall call, std::string label, std::string text);
//     void show_lines(Notes& notes, OperationCall call, std::string label,
//                     std::optional<std::size_t> limit);
//
//     const Argument label{"label", "The note's name."};
//     make_operation_tool<Notes&>({.name = "notes", …}, "operation", notes, {
//         {{.name = "append", .says = "adds text at the end"}, append_text, {label, "text"}},
//         {{.name = "show", .reads = true, .says = "the newest lines"}, show_lines,
//          {label, {"limit", "How many lines."}}}});
//
// A row names the arguments of its function in their order; their types are the function's, and a
// std::optional may be left out of a call. An operation with many arguments takes them as one
// struct, by its fields (json/fields.h). The tool's input schema, what it says of each operation,
// the check of a call (operations.h) and its decoding all come from the rows, so a function is
// called with exactly the arguments that its operation takes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "json/fields.h"
#include "tools/operations.h"
#include "tools/typed_tool.h"

namespace quire::tools {

// One call of an operation: who calls in which profile, and where the answer goes. `session` is
// valid until the function returns; `reply` may be kept and is called once.
struct OperationCall {
    const Session& session;
    Reply<ToolResult> reply;

    const kernel::Caller& by() const { return session.caller; }
};

// One argument in a row: its name, what is said of it, and what its schema says beside the type.
struct Argument {
    Argument(const char* its_name, std::string description = "",  // NOLINT(*-explicit-*)
             Map schema_rules = {})
        : name(its_name), says(std::move(description)), rules(std::move(schema_rules)) {}

    const char* name;
    std::string says;
    Map rules;  // {"minimum": 1} for example.
};

// `On` is what the tool works on: a reference to the kernel's calls, or a struct of such.
template <class On>
struct OperationRow {
    // `arguments` name the function's in their order.
    template <class... Args>
    OperationRow(Operation named, void (*function)(On, OperationCall, Args...),
                 Argument (&&arguments)[sizeof...(Args)])
        : operation(std::move(named)) {
        using Taken = std::tuple<std::remove_cvref_t<Args>...>;
        Fields<Taken> fields;
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (add<I>(fields, arguments[I]), ...);
        }
        (std::index_sequence_for<Args...>());
        operation.arguments = fields.schema();
        run = [function, fields = std::move(fields)](On on, OperationCall call,
                                                     const Value& given) {
            std::apply(
                [&](auto&&... taken) {
                    function(std::forward<On>(on), std::move(call), std::move(taken)...);
                },
                fields.decode(given));
        };
    }
    // The arguments are one struct; `fields` may leave out members in some profiles.
    template <class Args>
    OperationRow(Operation named, void (*function)(On, OperationCall, Args), Fields<Args> fields)
        : operation(std::move(named)) {
        operation.arguments = fields.schema();
        run = [function, fields = std::move(fields)](On on, OperationCall call,
                                                     const Value& given) {
            function(std::forward<On>(on), std::move(call), fields.decode(given));
        };
    }

    Operation operation;
    std::function<void(On, OperationCall, const Value& arguments)> run;

private:
    template <std::size_t I, class Taken>
    static void add(Fields<Taken>& fields, const Argument& argument) {
        constexpr auto kAt = [](auto& taken) -> auto& {
            return std::get<I>(taken);
        };
        using Type = std::tuple_element_t<I, Taken>;
        const auto& [name, says, rules] = argument;
        if constexpr (requires(Type type) { type.has_value(); }) {
            fields.optional(name, kAt, says, rules);
        } else {
            fields.required(name, kAt, says, rules);
        }
    }
};

// Finds the row of a call and runs it. The registry has checked the arguments before.
template <class On>
class OperationTool final : public Tool {
public:
    OperationTool(ToolInfo info, On on, std::vector<OperationRow<On>> rows)
        : Tool(std::move(info)), on_(std::forward<On>(on)), rows_(std::move(rows)) {}

    void call(const Session& session, Value arguments, Reply<ToolResult> reply) const override {
        const Operations& operations = info().operations;
        const Operation* const named =
            operations.find(arguments.get(operations.argument)->as_string());
        CHECK(named != nullptr);
        const auto& row = rows_[static_cast<std::size_t>(named - operations.all.data())];
        row.run(on_, {session, or_refused(std::move(reply))}, arguments);
    }

private:
    On on_;
    std::vector<OperationRow<On>> rows_;
};

// The names of the rows' operations, in their order.
template <class On>
std::vector<std::string> operation_names(const std::vector<OperationRow<On>>& rows) {
    std::vector<std::string> out;
    for (const OperationRow<On>& row : rows) out.push_back(row.operation.name);
    return out;
}
// The operations among them that have a twin.
template <class On>
std::vector<std::string> twin_names(const std::vector<OperationRow<On>>& rows) {
    std::vector<std::string> out;
    for (const OperationRow<On>& row : rows) {
        if (!row.operation.twin.title.empty()) out.push_back(row.operation.name);
    }
    return out;
}
// The rows without their functions.
template <class On>
Operations operations_of(std::string argument, const std::vector<OperationRow<On>>& rows) {
    Operations out{std::move(argument)};
    for (const OperationRow<On>& row : rows) out.all.push_back(row.operation);
    return out;
}

// A call names its operation by `argument`.
template <class On>
std::unique_ptr<const Tool> make_operation_tool(Described words, std::string argument,
                                                std::type_identity_t<On> on,
                                                std::vector<OperationRow<On>> rows) {
    Operations operations = operations_of(std::move(argument), rows);
    ToolInfo info = info_of(std::move(words), operations.input_schema(operations.names()));
    info.operations = std::move(operations);
    return std::make_unique<OperationTool<On>>(std::move(info), std::forward<On>(on),
                                               std::move(rows));
}

}  // namespace quire::tools

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

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "json/fields.h"
#include "tools/operations.h"
#include "tools/typed_tool.h"

namespace quire::tools {

// One call of an operation: who calls in which profile, and where the answer goes. `session` is
// valid until the function returns; what is needed later is copied. `reply` may be kept and is
// called once; an Error becomes a refusal.
struct OperationCall {
    const Session& session;
    Reply<ToolResult> reply;

    const kernel::Caller& by() const { return session.caller; }
};

// One argument in a row: its name, what is said of it, and what its schema says beside the type. A
// plain string is an argument of which nothing need be said.
struct Argument {
    Argument(const char* its_name, std::string description = "",  // NOLINT(*-explicit-*)
             Map schema_rules = {})
        : name(its_name), says(std::move(description)), rules(std::move(schema_rules)) {}

    const char* name;
    std::string says;
    Map rules;  // {"minimum": 1} for example.
};

// The arguments of one call, each in a Slot of its own, whose index tells two arguments of one type
// apart. std::tuple does the same and takes far longer to compile.
template <std::size_t, class T>
struct Slot {
    T value{};
};
template <class Indices, class... T>
struct Slots;
template <std::size_t... I, class... T>
struct Slots<std::index_sequence<I...>, T...> : Slot<I, T>... {};

// Adds to `list` the member `slot` of the struct at `slots`: its place is their distance in bytes.
// It is no template, so that rows of all types share it.
void add_argument(json::FieldList& list, const Argument& argument, const json::MemberType& type,
                  const void* slots, const void* slot);

// `On` is what the tool works on: a reference to the kernel's calls, or a struct of such.
//
// A row keeps its function and its fields without their types, and one function that knows them: so
// that rows of all types are copied and destroyed by the same code. The function pointer is cast
// back to exactly its own type before it is called.
template <class On>
class OperationRow {
public:
    // `arguments` name the function's in their order. Each type needs a codec (json/fields.h), and
    // a default value, which an absent optional keeps.
    template <class... Args>
    OperationRow(Operation named, void (*function)(On, OperationCall, Args...),
                 Argument (&&arguments)[sizeof...(Args)])
        : operation(std::move(named)), function_(reinterpret_cast<void (*)()>(function)) {
        take<std::remove_cvref_t<Args>...>(arguments, function, std::index_sequence_for<Args...>());
    }
    // The arguments are one struct; `fields` may leave out members in some profiles.
    template <class Args>
    OperationRow(Operation named, void (*function)(On, OperationCall, Args), Fields<Args> fields)
        : operation(std::move(named)), function_(reinterpret_cast<void (*)()>(function)) {
        operation.arguments = fields.schema();
        fields_ = std::shared_ptr<const void>(new Fields<Args>(std::move(fields)));
        run_ = [](const OperationRow& row, On on, OperationCall call, const Value& given) {
            const auto& fields_of_call = *static_cast<const Fields<Args>*>(row.fields_.get());
            row.function_as<void (*)(On, OperationCall, Args)>()(
                std::forward<On>(on), std::move(call), fields_of_call.decode(given));
        };
    }

    void run(On on, OperationCall call, const Value& arguments) const {
        run_(*this, std::forward<On>(on), std::move(call), arguments);
    }

    Operation operation;

private:
    template <class... T, class Run, std::size_t... I>
    void take(const Argument* arguments, Run, std::index_sequence<I...>) {
        using Taken = Slots<std::index_sequence<I...>, T...>;
        static const Taken empty{};
        auto list = std::make_shared<json::FieldList>();
        (add_argument(*list, arguments[I], json::kMemberType<T>, &empty,
                      &static_cast<const Slot<I, T>&>(empty).value),
         ...);
        operation.arguments = list->schema();
        fields_ = std::move(list);
        run_ = [](const OperationRow& row, On on, OperationCall call, const Value& given) {
            Taken taken;
            CHECK(!static_cast<const json::FieldList*>(row.fields_.get())->read(&taken, given));
            row.function_as<Run>()(std::forward<On>(on), std::move(call),
                                   std::move(static_cast<Slot<I, T>&>(taken).value)...);
        };
    }
    template <class Run>
    Run function_as() const {
        return reinterpret_cast<Run>(function_);
    }

    void (*function_)();
    std::shared_ptr<const void> fields_;  // A FieldList of Slots, or a Fields<Args>.
    void (*run_)(const OperationRow& row, On on, OperationCall call, const Value& arguments);
};

// Finds the row of a call and runs it. The registry has checked the arguments before. `rows` are in
// the order of the table that the tool publishes, so that a row is found by its operation's index.
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

// The names of the rows' operations, in their order. Rules and commands ask for these without a
// kernel: rows can be made without what the tool works on.
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

// Makes a tool of the rows. A call names its operation by `argument`, "operation" or "command".
// Rows that take an argument of one name have to give it the same schema (CHECK).
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

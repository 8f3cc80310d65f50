// Commands made from a tool's table of operations: a subcommand for each row, and its arguments
// from the row's schema. Nothing about an operation is written here a second time.
//
// Required arguments stand in the order of the row; the others are options. Standard input is read
// for an argument "-". The answer is the text that the tool writes for a reader, or with --json its
// structured result. Lines count from 1, as in profile `model`.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "cli/commands/command.h"
#include "tools/operations.h"

namespace quire::cli {

// How a table appears as a command. The names and sentences outlive the command.
struct OperationCommand {
    std::string_view name;  // "memory", of the command.
    std::string_view tool;  // "context", of the tool.
    std::string_view about;
    std::string_view example;
};
// The table with a help text for each operation in place of what it says to models.
tools::Operations with_sentences(std::string_view tool, tools::Operations table);
// `table` comes from with_sentences() and outlives the command.
Command operation_command(const OperationCommand& words, const tools::Operations& table);

// The value that a person typed for an argument, as the argument's schema takes it: a string as it is; a pair
// of whole numbers as A:B; words separated by commas as a list of them; anything else as JSON, or
// as a string where the schema takes any value and the text is not JSON. Errors: invalid_argument
// "invalid_arguments".
Result<Value> typed_argument(std::string_view name, const Value& schema, std::string text);

}  // namespace quire::cli

// quire call: one tool call, its result on standard output or its error on standard error.
//
// It is for scripts: a refusal is always JSON on standard error, also on a terminal, and an integer
// that would be rounded is refused.
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::cli {
namespace {

struct CallOptions {
    std::string tool;
    std::string arguments = "{}";  // "-" for standard input.
};

Result<Value> call_tool(const Globals& globals, const CallOptions& options) {
    const std::string text = options.arguments == "-" ? read_standard_input() : options.arguments;
    return call_once(globals, options.tool, TRY(json::parse(text, {.exact_integers = true})));
}

// A terminal gets the result on several lines, a pipe on one.
Result<int> run_call(const Globals& globals, const CallOptions& options) {
    const auto result = call_tool(globals, options);
    if (!result) {
        const std::string line =
            json::write(Map{{"error", rpc::error_value(result.error())}}) + "\n";
        std::fwrite(line.data(), 1, line.size(), stderr);
        return kRefused;
    }
    return is_terminal() ? output(json::write_pretty(*result) + "\n") : output_json(*result);
}

void add_call_options(CLI::App& app, CallOptions& options) {
    app.add_option("tool", options.tool, "Name of the tool; tools of other profiles work too")
        ->required()
        ->type_name("TOOL");
    app.add_option("arguments", options.arguments,
                   "The tool's arguments, a JSON object; - reads it from standard input")
        ->type_name("JSON")
        ->capture_default_str();
}

}  // namespace

Command call_command() {
    return {
        .name = "call",
        .about = "Call one tool and print its structured result; a refusal goes to standard error",
        .example = R"(quire call block_create '{"role":"user","kind":"text","content":"hello\n"}')",
        .action = action_with(add_call_options, run_call),
        .is_for_programs = true};
}

}  // namespace quire::cli

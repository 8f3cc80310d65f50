// shell: commands on the files of the workspace, held to the rules for files.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/concat.h"
#include "kernel/commands/command_calls.h"
#include "kernel/commands/command_values.h"
#include "text/escape_hidden.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace quire::tools {
namespace {

using kernel::CommandCalls;
using kernel::CommandForecast;
using kernel::CommandRun;

std::string objection_lines(std::string_view heading, const Value& all) {
    std::string out;
    for (const Value& each : all.as_list()) {
        cat_to(out, cat(heading, " ", each.get("operation")->as_string(), " ",
                        text::escape_hidden(each.get("path")->as_string()), ": ",
                        text::escape_hidden(each.get("reason")->as_string()), "\n"));
    }
    return out;
}

ToolResult answer_of(Map structured, std::string text) {
    return {ToolAnswer{std::move(structured), std::move(text)}, {}};
}

ToolResult render_forecast(const CommandForecast& forecast) {
    Map value = kernel::forecast_value(forecast);
    std::string text = cat(name_of(forecast.decision), "\n");
    for (const Value& each : value.find("predicted")->as_list()) {
        if (each.get("operation")->as_string() == "read") continue;
        cat_to(text, cat(each.get("operation")->as_string(), " ",
                         text::escape_hidden(each.get("path")->as_string()), "\n"));
    }
    text += objection_lines("forbidden:", *value.find("violations"));
    text += objection_lines("needs approval:", *value.find("escalations"));
    for (const char* const member : {"warnings", "unpredictable"}) {
        for (const Value& each : value.find(member)->as_list())
            cat_to(text, cat(each.get("kind")->as_string(), ": ",
                             text::escape_hidden(each.get("why")->as_string()), "\n"));
    }
    return answer_of(std::move(value), std::move(text));
}

ToolResult render_run(const CommandRun& run) {
    Map value = kernel::run_value(run);
    std::string text = value.find("stdout")->as_string();
    const auto end_line = [&] {
        if (!text.empty() && !text.ends_with('\n')) text += '\n';
    };
    end_line();
    const std::string& errors = value.find("stderr")->as_string();
    if (!errors.empty()) cat_to(text, cat("stderr:\n", errors));
    end_line();
    cat_to(text, cat("exit code ", run.outcome.exit_code, "\n"));
    for (const kernel::CommandChange& each : run.gate.changes) {
        cat_to(text, cat(each.change_type, " ", text::escape_hidden(each.path),
                         each.committed ? "\n" : " (not kept)\n"));
    }
    text += objection_lines("forbidden:", *value.find("violations"));
    text += objection_lines("needs approval:", *value.find("escalations"));
    for (const Value& each : value.find("warnings")->as_list()) {
        const std::string& kind = each.get("kind")->as_string();
        if (kind == "not_committed" || kind == "ended" || kind == "output_cut")
            cat_to(text, cat(text::escape_hidden(each.get("why")->as_string()), "\n"));
    }
    return answer_of(std::move(value), std::move(text));
}

void execute(CommandCalls& commands, OperationCall call, std::string command,
             std::optional<std::string> cwd, std::optional<std::int64_t> timeout_s,
             std::optional<std::string> input) {
    commands.execute(
        call.by(),
        {std::move(command), std::move(cwd).value_or(""), timeout_s, std::move(input).value_or("")},
        answer_with(std::move(call.reply), render_run));
}

void check(CommandCalls& commands, OperationCall call, std::string command,
           std::optional<std::string> cwd) {
    commands.check(call.by(), {std::move(command), std::move(cwd).value_or(""), {}, {}},
                   answer_with(std::move(call.reply), render_forecast));
}

std::vector<OperationRow<CommandCalls&>> shell_rows() {
    const Argument command{"command", "For bash."};
    const Argument cwd{"cwd", "From the workspace's root."};
    return {
        {{.name = "execute", .says = "runs it; its changes are kept if the rules allow each"},
         execute,
         {command, cwd, {"timeout_s", "At most.", {{"minimum", 1}}}, {"stdin", "Its input."}}},
        {{.name = "check", .reads = true, .says = "what it would change, without running it"},
         check,
         {command, cwd}},
    };
}

Map list_of(Map members) {
    return {{"type", "array"},
            {"items", Map{{"type", "object"}, {"properties", std::move(members)}}}};
}

// The schema of the operations' answers.
Map shell_answer() {
    const Map text{{"type", "string"}};
    const Map yes{{"type", "boolean"}};
    const Map effect{{"path", text}, {"operation", text}};
    const Map objection{{"path", text}, {"operation", text}, {"permission", text},
                        {"rule", text}, {"reason", text},    {"approval_id", text}};
    const Map warning{{"kind", text}, {"word", text}, {"why", text}};
    return {
        {"type", "object"},
        {"properties",
         Map{{"stdout", text},
             {"stderr", text},
             {"exit_code", Map{{"type", "integer"}}},
             {"timed_out", yes},
             {"decision", text},
             {"predicted", list_of(effect)},
             {"file_changes",
              list_of(
                  {{"path", text}, {"change_type", text}, {"block_id", text}, {"committed", yes}})},
             {"violations", list_of(objection)},
             {"escalations", list_of(objection)},
             {"unexpected", list_of(effect)},
             {"warnings", list_of(warning)},
             {"unpredictable", list_of(warning)},
             {"tier", text}}},
        {"required", List{"decision", "predicted", "violations", "escalations", "warnings"}}};
}

}  // namespace

std::vector<std::string> shell_operations() {
    return operation_names(shell_rows());
}

MadeTool make_shell(kernel::CommandCalls& commands) {
    return make_operation_tool<CommandCalls&>(
        {.name = "shell",
         .title = "Run commands",
         .description = "Run a command in the workspace. It runs apart from the files, without a "
                        "network; then each change passes the rules for files, all or none.",
         .annotations = {.destructive = true},
         .answer = shell_answer()},
        "operation", commands, shell_rows());
}

}  // namespace quire::tools

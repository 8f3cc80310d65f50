// shell: commands on the files of the workspace, held to the rules for files.
//
// Two ways to run one: execute waits for its end and answers all of it; spawn answers at once with
// an id, under which output, kill and status find the command. check runs nothing and says what the
// models of the commands predict. The members of an answer are made by the kernel
// (kernel/commands/command_values.h), which keeps them alike in all operations; this file adds the
// text for a model.
//
// Paths and messages come from files and programs, so their invisible characters are written out.
// Output of a command is passed on as it is.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "edits/numbering.h"
#include "kernel/commands/command_calls.h"
#include "kernel/commands/command_values.h"
#include "text/escape_hidden.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace quire::tools {
namespace {

using kernel::BackgroundState;
using kernel::CommandCalls;
using kernel::CommandForecast;
using kernel::CommandRun;
using kernel::EndSignal;

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
        // A forecast lists what the command reads, too; a model asks for what it would change.
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

// The text about a command's changes, a line for each.
std::string changes_text(const Map& value) {
    std::string text;
    for (const Value& each : value.find("file_changes")->as_list()) {
        cat_to(text, cat(each.get("change_type")->as_string(), " ",
                         text::escape_hidden(each.get("path")->as_string()),
                         each.get("committed")->as_bool() ? "\n" : " (not kept)\n"));
    }
    text += objection_lines("forbidden:", *value.find("violations"));
    text += objection_lines("needs approval:", *value.find("escalations"));
    for (const Value& each : value.find("warnings")->as_list()) {
        const std::string& kind = each.get("kind")->as_string();
        // Other warnings are about the forecast or the place in which the command ran; the
        // structured answer has them.
        if (kind == "not_committed" || kind == "ended" || kind == "output_cut")
            cat_to(text, cat(text::escape_hidden(each.get("why")->as_string()), "\n"));
    }
    return text;
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
    text += changes_text(value);
    return answer_of(std::move(value), std::move(text));
}

// The text about a background command.
std::string background_text(const Map& value) {
    const auto word = [&](const char* member) {
        return text::escape_hidden(value.find(member)->as_string());
    };
    std::string text = word("process_id");
    if (value.find("command") != nullptr) cat_to(text, cat(": ", word("command")));
    const Value* const code = value.find("exit_code");
    cat_to(text, cat(value.find("running")->as_bool() ? "\nruns" : "\nhas ended",
                     code == nullptr ? "" : cat(" with exit code ", code->as_int()), "\n"));
    if (value.find("file_changes") != nullptr) text += changes_text(value);
    if (const Value* const why = value.find("error"))
        cat_to(text, cat(text::escape_hidden(why->get("message")->as_string()), "\n"));
    return text;
}

ToolResult render_state(const BackgroundState& state) {
    Map value = kernel::background_value(state);
    std::string text = background_text(value);
    return answer_of(std::move(value), std::move(text));
}

void spawn(CommandCalls& commands, OperationCall call, std::string command,
           std::optional<std::string> cwd) {
    commands.background().spawn(call.by(), {std::move(command), std::move(cwd).value_or("")},
                                answer_with(std::move(call.reply), render_state));
}

// The number that the profile gives the first line.
std::int64_t base_of(Profile profile) {
    return numbering_of(profile) == edits::Numbering::one_inclusive ? 1 : 0;
}

void output(CommandCalls& commands, OperationCall call, std::string process_id,
            std::optional<std::int64_t> from_line) {
    const std::int64_t base = base_of(call.session.profile);
    std::optional<std::size_t> first;
    // Line 0 is none where lines count from 1; it is read as the first.
    if (from_line) first = static_cast<std::size_t>(std::max<std::int64_t>(*from_line - base, 0));
    commands.background().output(
        call.by(), std::move(process_id), first,
        answer_with(std::move(call.reply), [base, wanted = first.value_or(0)](
                                               const kernel::BackgroundOutput& found) {
            Map value{{"content", found.content}, {"line_count", found.line_count}};
            // first_line is answered only if it differs from the requested line.
            if (found.first_line != wanted)
                value.append("first_line", static_cast<std::int64_t>(found.first_line) + base);
            const Map state = kernel::background_value(found.state);
            for (const Map::Entry& each : state) {
                // The caller knows these from spawn.
                if (each.key != "command" && each.key != "started")
                    value.append(each.key, each.value);
            }
            std::string text = found.content;
            if (!text.empty() && !text.ends_with('\n')) text += '\n';
            text += background_text(value);
            return answer_of(std::move(value), std::move(text));
        }));
}

void kill(CommandCalls& commands, OperationCall call, std::string process_id,
          std::optional<EndSignal> signal) {
    commands.background().kill(call.by(), std::move(process_id), signal.value_or(EndSignal::term),
                               answer_with(std::move(call.reply), render_state));
}

void status(CommandCalls& commands, OperationCall call, std::optional<std::string> process_id) {
    // status() answers at once, so the reply is called here with its result.
    answer_with(std::move(call.reply), [](const std::vector<BackgroundState>& all) {
        List processes;
        std::string text = all.empty() ? "No command runs in the background.\n" : "";
        for (const BackgroundState& each : all) {
            Map value = kernel::background_value(each);
            text += background_text(value);
            processes.push_back(std::move(value));
        }
        return answer_of({{"processes", std::move(processes)}}, std::move(text));
    })(commands.background().status(call.by(), process_id));
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

std::vector<OperationRow<CommandCalls&>> shell_rows(Profile profile) {
    const Argument command{"command", "For bash."};
    const Argument cwd{"cwd", "From the workspace's root."};
    const Argument process{"process_id", "From spawn."};
    const Argument from{
        "from_line", cat("First line, from ", base_of(profile), "."), {{"minimum", 0}}};
    return {
        {{.name = "execute", .says = "runs it; its changes are kept if the rules allow each"},
         execute,
         {command, cwd, {"timeout_s", "At most.", {{"minimum", 1}}}, {"stdin", "Its input."}}},
        {{.name = "check", .reads = true, .says = "what it would change, without running it"},
         check,
         {command, cwd}},
        {{.name = "spawn", .says = "starts one that runs on; its output is in a block"},
         spawn,
         {command, cwd}},
        {{.name = "output", .reads = true, .says = "what it printed"}, output, {process, from}},
        {{.name = "kill", .says = "ends it; KILL discards its changes"},
         kill,
         {process, {"signal", "TERM if absent."}}},
        {{.name = "status", .reads = true, .says = "those that were spawned"}, status, {process}},
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
             {"tier", text},
             {"process_id", text},
             {"block_id", text},
             {"content", text},
             {"line_count", Map{{"type", "integer"}}},
             {"running", yes},
             {"processes", Map{{"type", "array"}}}}}};
}

}  // namespace

std::vector<std::string> shell_operations() {
    return operation_names(shell_rows(Profile::model));
}

MadeTool make_shell(kernel::CommandCalls& commands, Profile profile) {
    return make_operation_tool<CommandCalls&>(
        {.name = "shell",
         .title = "Run commands",
         .description = "Run a command in the workspace. It runs apart from the files, without a "
                        "network; then each change passes the rules for files, all or none.",
         .annotations = {.destructive = true},
         .answer = shell_answer()},
        "operation", commands, shell_rows(profile));
}

}  // namespace quire::tools

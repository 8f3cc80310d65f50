// quire sh: runs a command of the shell under the rules for files, as the tool shell does.
//
// The command's own output comes first and unchanged, and what Quire did with its changes follows
// on standard error, so a pipe gets what bash would have given it. The exit code is the command's.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct ShOptions {
    std::string command;
    std::string directory;  // "" for where the command line is.
    std::int64_t timeout_s = 0;
};

// The directory, from the workspace's root; "" outside of it. A command that is given outside of
// the workspace runs at its root.
std::string directory_of(const Globals& globals, const std::string& named) {
    if (!named.empty()) return named;
    std::error_code failed;
    const auto here = std::filesystem::current_path(failed);
    const auto root = std::filesystem::canonical(globals.workspace, failed);
    const std::string within = here.lexically_relative(root).string();
    return failed || within.empty() || within.starts_with("..") || within == "." ? "" : within;
}

void print_output(const Value& from) {
    const std::string out = json::text_in(from, "stdout");
    const std::string errors = json::text_in(from, "stderr");
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
    std::fwrite(errors.data(), 1, errors.size(), stderr);
}

// Tells standard error the command's changes of files.
void print_changes(const Value& from) {
    std::string lines;
    const Value* const changes = from.get("file_changes");
    if (changes != nullptr && changes->is_list()) {
        for (const Value& each : changes->as_list()) {
            const Value* const committed = each.get("committed");
            const bool is_kept = committed != nullptr && committed->as_bool();
            cat_to(lines,
                   cat("quire: ", is_kept ? "" : "not kept: ", json::text_in(each, "change_type"),
                       " ", text::escape_hidden(json::text_in(each, "path")), "\n"));
        }
    }
    const auto add = [&](const char* member, const char* heading, const char* why) {
        const Value* const all = from.get(member);
        if (all == nullptr || !all->is_list()) return;
        for (const Value& each : all->as_list()) {
            cat_to(lines,
                   cat("quire: ", heading, " ", text::escape_hidden(json::text_in(each, "path")),
                       " ", text::escape_hidden(json::text_in(each, why)), "\n"));
        }
    };
    add("violations", "forbidden:", "reason");
    add("escalations", "needs approval:", "reason");
    const Value* const warnings = from.get("warnings");
    if (warnings != nullptr && warnings->is_list()) {
        for (const Value& each : warnings->as_list()) {
            const std::string kind = json::text_in(each, "kind");
            if (kind == "not_committed" || kind == "ended" || kind == "output_cut")
                cat_to(lines,
                       cat("quire: ", text::escape_hidden(json::text_in(each, "why")), "\n"));
        }
    }
    std::fwrite(lines.data(), 1, lines.size(), stderr);
}

Result<int> run_sh(const Globals& globals, const ShOptions& options) {
    Map arguments{{"operation", "execute"}, {"command", options.command}};
    const std::string directory = directory_of(globals, options.directory);
    if (!directory.empty()) arguments.append("cwd", directory);
    if (options.timeout_s > 0) arguments.append("timeout_s", options.timeout_s);
    Result<Value> answer = call_once(globals.with_whole_answers(), "shell", std::move(arguments));
    // A command whose changes were refused did run: its output is in the error's details.
    if (!answer) {
        const Error& why = answer.error();
        if (!globals.json) print_output(why.details());
        if (!globals.json) print_changes(why.details());
        return Failure(std::move(answer).error());
    }
    if (globals.json) return output_json(*answer);
    print_output(*answer);
    print_changes(*answer);
    const Value* const code = answer->get("exit_code");
    return code != nullptr && code->is_int() ? static_cast<int>(code->as_int()) : kDone;
}

void add_sh_options(CLI::App& app, ShOptions& options) {
    app.add_option("command", options.command, "The command, for bash")
        ->required()
        ->type_name("COMMAND");
    app.add_option("--cwd", options.directory,
                   "The directory to run it in, from the workspace's root; otherwise this one")
        ->type_name("DIR");
    app.add_option("--timeout", options.timeout_s, "The most seconds that it may take")
        ->type_name("SECONDS")
        ->check(CLI::Range(1, 86'400));
}

}  // namespace

Command sh_command() {
    return {.name = "sh",
            .about =
                "Run a command apart from the files, and keep its changes if the rules allow "
                "each of them",
            .example = "quire sh 'grep -rn main src'",
            .action = action_with(add_sh_options, run_sh)};
}

}  // namespace quire::cli

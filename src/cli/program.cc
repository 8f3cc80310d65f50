// The parser of the command line, built from the list of commands.
//
// A command runs after the parser is done: what it throws is then not taken for a mistake in the
// usage.
//
//     command_list.cc -> parser -> parse -> settle_globals() -> the command's run() -> exit code
//
// Options that every command takes may stand before or behind the command's name. Each of them has
// an environment variable, --json apart.
#include "cli/program.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/settings/person.h"
#include "cli/settings/workspace.h"
#include "tools/tool.h"

namespace quire::cli {
namespace {

constexpr const char* kAbout =
    "Quire: a workspace that several agents and people edit at once without losing an edit.\n\n"
    "Agents reach it over MCP, people with these commands. A command that needs the workspace's\n"
    "kernel starts one if none runs; the kernel ends a few seconds after its last client has left.";

constexpr const char* kFirstSteps =
    "\nFirst steps:\n"
    "  quire demo                  see two agents and an editor share files\n"
    "  quire init                  write the rules for this directory\n"
    "  quire init --agent claude   give it to Claude Code (or codex, cursor, gemini, vscode)\n"
    "  quire doctor                check that everything works\n"
    "  quire log                   see who did what\n"
    "\nExit codes: 0 done, 1 refused or failed (standard error says why), 2 wrong usage.\n";

// A check of CLI11: "" for a word that is a profile.
std::string check_profile(const std::string& word) {
    const auto profile = parse_enum<tools::Profile>("profile", word);
    return profile ? "" : profile.error().message();
}

class Program {
public:
    Program(std::string_view version, std::string_view commit) : app_(kAbout, "quire") {
        globals_.version = version;
        app_.set_version_flag("--version", cat("quire ", version, " (", commit, ")"),
                              "Print name, version and commit");
        app_.require_subcommand(1);
        app_.fallthrough();
        app_.footer(kFirstSteps);
        add_global_options();
        for (const Command& command : all_commands()) add(app_, command);
    }

    // Wrong usage is kUsage and names --help; errors of the command are printed by refuse().
    int run(int argc, char** argv) {
        if (argc <= 1) return output(app_.help());
        try {
            app_.parse(argc, argv);
        } catch (const CLI::Success& success) {
            return app_.exit(success);  // --help and --version.
        } catch (const CLI::ParseError& error) {
            const std::vector<std::string> unknown = app_.remaining();
            const std::string what = !unknown.empty() && app_.get_subcommands().empty()
                                         ? cat("there is no command ", unknown.front())
                                         : std::string(error.what());
            complain(cat(what, ". Run quire --help, or quire COMMAND --help."));
            return kUsage;
        }
        const Result<void> settled = settle_globals();
        if (!settled) return refuse(globals_, settled.error());
        const Result<int> code = chosen_.run(globals_);
        return code ? *code : refuse(globals_, code.error());
    }

private:
    void add_global_options() {
        app_.add_option("-w,--workspace", globals_.workspace,
                        "The directory to work in; without it, the nearest directory that holds a "
                        "quire.toml or .quire/, from here upwards")
            ->envname("QUIRE_WORKSPACE")
            ->type_name("DIR");
        app_.add_option("-a,--actor", globals_.actor,
                        "Who acts: agent:NAME, human:NAME, source:NAME or system:NAME; without "
                        "it, you as human:LOGIN (quire mcp and quire call: agent:local)")
            ->envname("QUIRE_ACTOR")
            ->type_name("ACTOR")
            ->check(check_actor);
        app_.add_option("--profile", globals_.profile,
                        "The set of tools; without it, the agent's profile in quire.toml, or model")
            ->envname("QUIRE_PROFILE")
            ->type_name("PROFILE")
            ->check(CLI::Validator(check_profile, "{model,full,compat}"));
        app_.add_flag("--json", globals_.json, "Print data as JSON");
    }

    // Fills in what neither the command line nor the environment says. Errors: those of
    // find_workspace() and check_workspace().
    Result<void> settle_globals() {
        globals_.actor_named = app_.count("--actor") > 0;
        globals_.workspace_named = app_.count("--workspace") > 0;
        globals_.touches = chosen_.touches;
        if (!globals_.actor_named)
            globals_.actor = chosen_.is_for_programs ? "agent:local" : person_here().str();
        // Such a command works where there is no workspace, or where one is damaged.
        if (chosen_.touches == Touches::nothing) return {};
        if (globals_.workspace_named)
            // A command for programs attaches next, and reports what is wrong with the workspace in
            // its own way.
            return chosen_.is_for_programs ? Result<void>() : check_workspace(globals_.workspace);
        FoundWorkspace found = TRY(find_workspace("."));
        globals_.workspace = std::move(found.directory);
        globals_.passed_over = std::move(found.passed_over);
        return {};
    }

    // The callback only notes the command. CLI11 calls it for the outer commands as well, so the
    // innermost one, which has no subcommand on this line, is the one that is chosen.
    void add(CLI::App& parent, const Command& command) {
        CLI::App& app =
            *parent.add_subcommand(std::string(command.name), std::string(command.about));
        if (command.hidden) app.group("");
        if (!command.example.empty()) app.footer(cat("\nExample:\n  ", command.example, "\n"));
        if (command.action) {
            app.final_callback(
                [this, &app,
                 chosen = Chosen{command.action(app), command.touches, command.is_for_programs}] {
                    if (app.get_subcommands().empty()) chosen_ = chosen;
                });
        }
        if (!command.subcommands.empty()) app.require_subcommand(command.action ? 0 : 1, 1);
        for (const Command& each : command.subcommands) add(app, each);
    }

    // The command that the command line names.
    struct Chosen {
        CommandRun run;
        Touches touches = Touches::writes;
        bool is_for_programs = false;
    };

    CLI::App app_;
    Globals globals_;
    Chosen chosen_;
};

}  // namespace

int run(int argc, char** argv, std::string_view version, std::string_view commit) {
    // Writing to a pipe that nobody reads is then an error like others, and does not end us.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return Program(version, commit).run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "quire: %s\n", error.what());
        return kRefused;
    }
}

}  // namespace quire::cli

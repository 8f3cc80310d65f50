#include "cli/program.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "policy/actor.h"
#include "tools/tool.h"

namespace quire::cli {
namespace {

constexpr const char* kAbout =
    "Quire: a workspace that several agents and people edit at once, and nothing is lost.\n\n"
    "Agents reach it over MCP, people with these commands. Whatever needs the workspace's kernel "
    "starts\n"
    "one where none runs; it ends itself some seconds after its last client has left.";

constexpr const char* kFirstSteps =
    "\nFirst steps:\n"
    "  quire demo                                        see two agents and an editor share files\n"
    "  quire init                                        write the rules for this directory\n"
    "  claude mcp add quire -- quire mcp --workspace .   give it to an agent\n"
    "  quire log                                         see who did what\n"
    "\nExit codes: 0 done, 1 refused or failed (standard error says why), 2 wrong usage.\n";

std::string check_actor(const std::string& word) {
    const auto actor = policy::Actor::parse(word);
    return actor ? "" : actor.error().message();
}

std::string check_agent(const std::string& name) {
    return check_actor("agent:" + name);
}

std::string check_profile(const std::string& word) {
    const auto profile = tools::parse_profile(word);
    return profile ? "" : profile.error().message();
}

std::string example(std::string_view line) {
    return cat("\nExample:\n  ", line, "\n");
}

// The parser with what it parses into. Commands are added to it one by one.
class Program {
public:
    Program(std::string_view version, std::string_view commit) : app_(kAbout, "quire") {
        globals_.version = version;
        app_.set_version_flag("--version", cat("quire ", version, " (", commit, ")"),
                              "Print name, version and commit");
        app_.require_subcommand(1);
        app_.fallthrough();
        app_.footer(kFirstSteps);
        app_.add_option("-w,--workspace", globals_.workspace, "The directory to work in")
            ->envname("QUIRE_WORKSPACE")
            ->type_name("DIR")
            ->capture_default_str();
        app_.add_option("-a,--actor", globals_.actor,
                        "Who acts: agent:NAME, human:NAME, source:NAME or system:NAME")
            ->envname("QUIRE_ACTOR")
            ->type_name("ACTOR")
            ->check(check_actor)
            ->capture_default_str();
        app_.add_option(
                "--profile", globals_.profile,
                "Which tools: model, full or compat; else the agent's in quire.toml, or model")
            ->envname("QUIRE_PROFILE")
            ->type_name("PROFILE")
            ->check(check_profile);
        app_.add_flag("--json", globals_.json, "Print data as JSON");
        add_commands();
    }

    int run(int argc, char** argv) {
        try {
            app_.parse(argc, argv);
        } catch (const CLI::Success& asked) {
            return app_.exit(asked);  // --help and --version.
        } catch (const CLI::ParseError& error) {
            const std::vector<std::string> unknown = app_.remaining();
            const std::string what = !unknown.empty() && app_.get_subcommands().empty()
                                         ? cat("there is no command ", unknown.front())
                                         : std::string(error.what());
            complain(cat(what, ". Run quire --help, or quire COMMAND --help."));
            return kUsage;
        }
        return chosen_();
    }

private:
    CLI::App& command(const char* name, const char* about, std::string_view shown) {
        CLI::App& sub = *app_.add_subcommand(name, about);
        sub.footer(example(shown));
        return sub;
    }

    void add_commands() {
        command("init", "Write a commented quire.toml with sensible rules, and show it",
                "quire init --workspace ~/project")
            .final_callback([this] { choose([this] { return init(globals_); }); });
        command("mcp", "Speak MCP on standard input and output",
                "quire mcp --workspace ~/project --actor agent:ada --profile full")
            .final_callback([this] { choose([this] { return mcp(globals_); }); });
        add_serve();
        add_call();
        add_cat();
        add_edit();
        add_export();
        add_import();
        add_context();
        add_approvals();
        add_log();
        add_audit();
        add_undo();
        command("status", "Say whether a kernel runs, and what it holds", "quire status --json")
            .final_callback([this] { choose([this] { return status(globals_); }); });
        add_sources();
        add_mounts();
        add_rules();
        add_demo();
        command("doctor", "Check that everything works here, and say how to mend what does not",
                "quire doctor --workspace ~/project")
            .final_callback([this] { choose([this] { return doctor(globals_); }); });
        command("engine", "Drive the document engine, one JSON request a line",
                R"(echo '{"op":"new","doc":"a"}' | quire engine)")
            .final_callback([this] { choose([] { return engine(); }); });
        add_kernel();
        add_completion();
    }

    void add_serve() {
        CLI::App& sub =
            command("serve",
                    "Keep the workspace's kernel running in the foreground, on the Unix socket in "
                    ".quire/, until Ctrl-C",
                    "quire serve --workspace ~/project");
        sub.add_option("--listen", serve_.listen,
                       "HOST:PORT for HTTP; not supported by this version, which refuses it")
            ->type_name("HOST:PORT");
        sub.final_callback([this] { choose([this] { return serve(globals_, serve_); }); });
    }

    void add_call() {
        CLI::App& sub = command(
            "call",
            "Call one tool and print its structured result; a refusal's error goes to standard "
            "error",
            R"(quire call block_create '{"role":"user","kind":"text","content":"hello\n"}')");
        sub.add_option("tool", call_.tool,
                       "The tool's name; of another profile where --profile has none")
            ->required()
            ->type_name("TOOL");
        sub.add_option("arguments", call_.arguments,
                       "Its arguments as a JSON object; - reads standard input")
            ->type_name("JSON")
            ->capture_default_str();
        sub.final_callback([this] { choose([this] { return call(globals_, call_); }); });
    }

    void add_cat() {
        CLI::App& sub =
            command("cat", "Print a block's or a file's text, with edits that are not saved yet",
                    "quire cat src/main.cc");
        sub.add_option("what", cat_.what, "A block's id, or a path in the workspace")
            ->required()
            ->type_name("BLOCK|PATH");
        sub.final_callback([this] { choose([this] { return print_block(globals_, cat_); }); });
    }

    void add_edit() {
        CLI::App& sub = command("edit",
                                "Edit a memory block in your editor ($VISUAL, $EDITOR); what you "
                                "change is put together "
                                "with what others change meanwhile",
                                "EDITOR=nano quire edit profile --actor human:tom");
        sub.add_option("label", edit_.label, "The block's label")->required()->type_name("LABEL");
        CLI::Option* from = sub.add_option("--from", edit_.from,
                                           "Go on with a file that an earlier edit left behind");
        from->type_name("FILE");
        sub.add_flag("--print", edit_.print, "Print the text that would be edited, and no more")
            ->excludes(from);
        sub.final_callback([this] {
            edit_.actor_named = app_.count("--actor") > 0;
            choose([this] { return edit_memory(globals_, edit_); });
        });
    }

    void add_export() {
        CLI::App& sub =
            command("export", "Write all memory that an agent owns, with its history, to one file",
                    "quire export --agent ada ada.memory --actor human:tom");
        sub.add_option("--agent", export_.agent, "Whose memory")
            ->required()
            ->type_name("NAME")
            ->check(check_agent);
        sub.add_option("file", export_.file, "The file to write")->required()->type_name("FILE");
        sub.add_flag("--force", export_.force, "Also over a file that is there");
        sub.final_callback([this] {
            export_.actor_named = app_.count("--actor") > 0;
            choose([this] { return export_memory(globals_, export_); });
        });
    }

    void add_import() {
        CLI::App& sub = command("import",
                                "Take in memory from a file: one that quire exported, the memory "
                                "server's JSON lines, or "
                                "an agent file of Letta (.af)",
                                "quire import ada.memory --agent ada --dry-run --actor human:tom");
        sub.add_option("file", import_.file, "The file; what it is is seen from its content")
            ->required()
            ->type_name("FILE");
        sub.add_option("--agent", import_.agent,
                       "Whose memory it becomes; without it, that of those whom the file names")
            ->type_name("NAME")
            ->check(check_agent);
        sub.add_option("--rename", import_.rename,
                       "What comes behind labels that are taken here; without it nothing is "
                       "imported where one is")
            ->type_name("SUFFIX");
        sub.add_flag("--dry-run", import_.dry_run, "Check all of it, and write nothing");
        sub.final_callback([this] {
            import_.actor_named = app_.count("--actor") > 0;
            choose([this] { return import_memory(globals_, import_); });
        });
    }

    void add_context() {
        CLI::App& sub = command("context", "Show what an agent is to have in its context",
                                "quire context render --agent ada --budget 8000");
        sub.require_subcommand(1);
        CLI::App& render = *sub.add_subcommand(
            "render",
            "Print an agent's core memory, its pinned working memory, and the rules for its tools");
        render.footer(example("quire context render --agent ada --budget 8000"));
        render.add_option("--agent", context_.agent, "Whose context")
            ->required()
            ->type_name("NAME")
            ->check(check_agent);
        render
            .add_option("--budget", context_.budget,
                        "At most so many tokens, of four characters each; what does not fit is "
                        "left out, and named on standard error")
            ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40))
            ->type_name("TOKENS");
        render.final_callback(
            [this] { choose([this] { return render_context(globals_, context_); }); });
    }

    void add_approvals() {
        CLI::App& sub = command("approvals", "Show what agents ask people for, and answer",
                                "quire approvals list --actor human:tom");
        sub.require_subcommand(1);
        CLI::App& list =
            *sub.add_subcommand("list", "Print what waits for an answer, and what was approved");
        list.footer(example("quire approvals list --all --actor human:tom"));
        list.add_flag("--all", approval_.all, "Also what is over, as long as it is kept");
        list.final_callback(
            [this] { choose([this] { return list_approvals(globals_, approval_); }); });
        CLI::App& approve = add_answer(
            sub, "approve", "Let an agent make the call that it asked for, once", "approve_once");
        CLI::Option* duration =
            approve
                .add_option("--for", approval_.duration_s,
                            "Let it do that operation there, with any content, for so long: 90s, "
                            "10m, 2h, 1d")
                ->transform(CLI::AsNumberWithUnit(
                    std::map<std::string, std::int64_t>{
                        {"s", 1}, {"m", 60}, {"h", 60 * 60}, {"d", 24 * 60 * 60}},
                    CLI::AsNumberWithUnit::CASE_SENSITIVE))
                ->type_name("TIME");
        CLI::Option* scope = approve.add_option_function<std::string>(
            "--scope",
            [this](const std::string& glob) {
                approval_.scoped = true;
                approval_.scope = glob;
            },
            "Let it do that operation until it is revoked, on the labels or paths that the "
            "glob matches");
        scope->type_name("GLOB")->excludes(duration);
        approve
            .add_flag_function(
                "--here", [this](std::int64_t) { approval_.scoped = true; },
                "The same, on this block or file alone")
            ->excludes(duration)
            ->excludes(scope);
        add_answer(sub, "deny", "Say no: the same call is refused, and told by whom", "deny");
        add_answer(sub, "revoke", "Take an answer back that still holds", "revoke");
    }

    CLI::App& add_answer(CLI::App& to, const std::string& name, const std::string& about,
                         const char* decision) {
        CLI::App& sub = *to.add_subcommand(name, about);
        sub.footer(example(cat("quire approvals ", name, " ap_1f2e3d4c5b6a --actor human:tom")));
        sub.add_option("approval_id", approval_.id, "What it is about: list prints it")
            ->required()
            ->type_name("APPROVAL_ID");
        sub.final_callback([this, decision] {
            approval_.decision = decision;
            choose([this] { return answer_approval(globals_, approval_); });
        });
        return sub;
    }

    void add_log() {
        CLI::App& sub =
            command("log", "Print what was done last, newest first: by everyone, or by one actor",
                    "quire log --actor agent:ada --limit 5");
        sub.add_option("-a,--actor", log_.actor, "Only what this actor did")
            ->type_name("ACTOR")
            ->check(check_actor);
        sub.add_option("-n,--limit", log_.limit, "How many entries")
            ->check(CLI::Range(1, 10'000))
            ->capture_default_str();
        sub.final_callback([this] { choose([this] { return print_log(globals_, log_); }); });
    }

    void add_audit() {
        CLI::App& sub = command("audit",
                                "Print what was called, decided and approved, newest first; or "
                                "check that nobody changed the log of it",
                                "quire audit --tool context --since 2h --refused");
        sub.require_subcommand(0, 1);
        sub.add_option("-a,--actor", audit_.actor, "Only what this actor called, or answered")
            ->type_name("ACTOR")
            ->check(check_actor);
        sub.add_option("--tool", audit_.tool,
                       "Only calls of this tool, or of one operation of it: context.set_field")
            ->type_name("TOOL");
        sub.add_option("--since", audit_.since,
                       "Only from then on: 90s, 10m, 2h or 3d ago, or a time in RFC 3339")
            ->type_name("TIME")
            ->check([](const std::string& text) {
                return moment_of(text, SystemClock().wall_ms())
                           ? std::string()
                           : cat("'", text, "' is neither like 2h nor like 2026-01-31T12:00:00Z");
            });
        sub.add_flag("--refused", audit_.refused, "Only calls that were refused or escalated");
        sub.add_option("--reason", audit_.reason, "Only refusals with this reason")
            ->type_name("REASON");
        CLI::Option* limit = sub.add_option("-n,--limit", audit_.limit, "How many entries");
        limit->check(CLI::Range(1, 1'000'000))->capture_default_str();
        sub.add_flag("--all", audit_.all, "All of them, however many there are")->excludes(limit);
        sub.final_callback([this, &sub] {
            if (sub.get_subcommands().empty())
                choose([this] { return print_audit(globals_, audit_); });
        });
        CLI::App& verify =
            *sub.add_subcommand("verify", "Check the whole log, and print the hash of its end");
        verify.footer(example("quire audit verify --expect-head 5f0c…"));
        verify
            .add_option("--expect-head", audit_.heads,
                        "A hash that it printed earlier: one of the entries must have it still")
            ->type_name("HASH")
            ->check([](const std::string& text) {
                return text.size() == 64 &&
                               text.find_first_not_of("0123456789abcdef") == std::string::npos
                           ? std::string()
                           : std::string("a hash is 64 digits, 0 to 9 and a to f");
            });
        verify.final_callback(
            [this] { choose([this] { return verify_audit(globals_, audit_); }); });
    }

    void add_undo() {
        CLI::App& sub =
            command("undo", "Take back your last change to a block or a file, and nobody else's",
                    "quire undo b1_2_45 --actor agent:ada");
        sub.add_option("what", undo_.what, "A block's id, or a path in the workspace")
            ->required()
            ->type_name("BLOCK|PATH");
        sub.add_flag("--redo", undo_.redo, "Do again what was taken back last");
        sub.add_flag("--any", undo_.any, "The last change of whoever made it");
        sub.final_callback([this] { choose([this] { return undo(globals_, undo_); }); });
    }

    void add_sources() {
        CLI::App& sub = command("sources",
                                "Show what feeds memory from outside, such as diagnostics "
                                "([sources.diagnostics] in quire.toml), and run it",
                                "quire sources run diagnostics --wait");
        sub.require_subcommand(0, 1);
        sub.final_callback([this, &sub] {
            if (sub.get_subcommands().empty()) choose([this] { return list_sources(globals_); });
        });
        CLI::App& run =
            *sub.add_subcommand("run", "Check again what has changed since it was checked, now");
        run.footer(example("quire sources run diagnostics --wait"));
        run.add_option("name", source_.name, "Which: quire sources lists them")
            ->required()
            ->type_name("NAME");
        run.add_flag("--wait", source_.wait,
                     "Until it is done; how far it is goes to standard error");
        run.final_callback([this] { choose([this] { return run_source(globals_, source_); }); });
    }

    void add_mounts() {
        CLI::App& sub = command("mounts",
                                "Show other programs' tools ([tools.mount.NAME] in quire.toml), "
                                "and approve what changes in them",
                                "quire mounts show fs");
        sub.require_subcommand(0, 1);
        sub.final_callback([this, &sub] {
            if (sub.get_subcommands().empty()) choose([this] { return list_mounts(globals_); });
        });
        CLI::App& list = *sub.add_subcommand("list", "Print each with its state; the default");
        list.footer(example("quire mounts list --json"));
        CLI::App& show = *sub.add_subcommand(
            "show", "Print the tools of one, and what its program lists otherwise, before and now");
        show.footer(example("quire mounts show fs"));
        CLI::App& check = *sub.add_subcommand(
            "check", "Ask one what it lists now; one that was never reached is approved as it is");
        check.footer(example("quire mounts check fs"));
        CLI::App& approve = *sub.add_subcommand(
            "approve", "Take what its program lists now for approved, as a person");
        approve.footer(example("quire mounts approve fs 3f9a0c417be25d86 --actor human:tom"));
        for (CLI::App* each : {&show, &check, &approve}) {
            each->add_option("name", mount_.name, "Which: quire mounts lists them")
                ->required()
                ->type_name("NAME");
        }
        approve
            .add_option("offer", mount_.offer,
                        "What it lists, by the digest that quire mounts show prints")
            ->required()
            ->type_name("DIGEST");
        list.final_callback([this] { choose([this] { return list_mounts(globals_); }); });
        show.final_callback([this] { choose([this] { return show_mount(globals_, mount_); }); });
        check.final_callback([this] { choose([this] { return check_mount(globals_, mount_); }); });
        approve.final_callback(
            [this] { choose([this] { return approve_mount(globals_, mount_); }); });
    }

    void add_rules() {
        CLI::App& sub = command("rules", "Show what the rules for tools in quire.toml say",
                                "quire rules check");
        sub.require_subcommand(1);
        CLI::App& describe = *sub.add_subcommand(
            "describe", "Print the rules for an agent, a sentence each, as its prompt has them");
        describe.footer(example("quire rules describe --agent ada"));
        CLI::App& check = *sub.add_subcommand(
            "check",
            "Say which rules contradict each other and which have no effect; 1 with an error");
        check.footer(example("quire rules check --json"));
        CLI::App& explain = *sub.add_subcommand(
            "explain", "Say what an agent's first call would get, and why, rule by rule");
        explain.footer(example("quire rules explain --agent ada --tool file --operation read"));
        for (CLI::App* each : {&describe, &explain}) {
            each->add_option("--agent", rule_.agent, "Whose rules")
                ->required()
                ->type_name("NAME")
                ->check(check_agent);
        }
        explain.add_option("--tool", rule_.tool, "Which tool is called")
            ->required()
            ->type_name("TOOL");
        explain.add_option("--operation", rule_.operation, "What it is to do")
            ->type_name("OPERATION");
        describe.final_callback(
            [this] { choose([this] { return describe_rules(globals_, rule_); }); });
        check.final_callback([this] { choose([this] { return check_rules(globals_); }); });
        explain.final_callback(
            [this] { choose([this] { return explain_call(globals_, rule_); }); });
    }

    void add_demo() {
        CLI::App& sub = command(
            "demo",
            "Two agents and an editor change the same files at once; see that nothing is lost",
            "quire demo --seconds 5");
        sub.add_option("-w,--workspace", demo_.workspace,
                       "Work on a copy of this directory instead of a small one made for it")
            ->type_name("DIR");
        sub.add_option("--seconds", demo_.seconds, "How long they edit")
            ->check(CLI::Range(0.2, 600.0))
            ->capture_default_str();
        sub.add_flag("--keep", demo_.keep, "Leave the workspace behind and say where it is");
        sub.final_callback([this] { choose([this] { return demo(globals_, demo_); }); });
    }

    void add_kernel() {
        CLI::App& sub =
            *app_.add_subcommand("kernel", "The background process that owns a workspace");
        sub.group("");  // Hidden: the other commands start it.
        sub.add_option("--ready-fd", kernel_.ready_fd, "Where to say that it is ready");
        sub.final_callback(
            [this] { choose([this] { return kernel_process(globals_, kernel_); }); });
    }

    void add_completion() {
        CLI::App& sub = command("completion", "Print completions for a shell",
                                "source <(quire completion bash)");
        sub.add_option("shell", shell_, "bash, zsh or fish")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh", "fish"}))
            ->type_name("SHELL");
        sub.final_callback([this] {
            choose([this] { return print(completion_script(shell_, words())) ? kDone : kRefused; });
        });
    }

    // Commands run after the parser is done, so that what they throw is not taken for a mistake in
    // the usage.
    void choose(std::function<int()> run) { chosen_ = std::move(run); }

    static std::vector<const CLI::App*> below(const CLI::App& app) {
        std::vector<const CLI::App*> all =
            app.get_subcommands([](const CLI::App*) { return true; });
        std::erase_if(all, [](const CLI::App* sub) { return sub->get_group().empty(); });
        return all;
    }

    // Each once: every one has a --help of its own.
    static void add_options(const CLI::App& of, std::vector<std::string>& words) {
        for (const CLI::Option* option : of.get_options()) {
            for (const std::string& name : option->get_lnames()) {
                std::string word = "--" + name;
                if (std::find(words.begin(), words.end(), word) == words.end())
                    words.push_back(std::move(word));
            }
        }
    }

    std::vector<CommandWords> words() const {
        std::vector<CommandWords> all;
        for (const CLI::App* sub : below(app_)) {
            CommandWords command = {sub->get_name(), sub->get_description(), {}};
            add_options(*sub, command.options);
            for (const CLI::App* inner : below(*sub)) {
                command.subcommands.push_back(inner->get_name());
                add_options(*inner, command.options);
            }
            add_options(app_, command.options);
            all.push_back(std::move(command));
        }
        return all;
    }

    CLI::App app_;
    Globals globals_;
    ServeOptions serve_;
    KernelOptions kernel_;
    CallOptions call_;
    CatOptions cat_;
    EditOptions edit_;
    ExportOptions export_;
    ImportOptions import_;
    ContextOptions context_;
    ApprovalOptions approval_;
    LogOptions log_;
    AuditOptions audit_;
    UndoOptions undo_;
    SourceOptions source_;
    MountCommandOptions mount_;
    RuleOptions rule_;
    DemoOptions demo_;
    std::string shell_;
    std::function<int()> chosen_;
};

}  // namespace

int run(int argc, char** argv, std::string_view version, std::string_view commit) {
    // A pipe that nobody reads any more is an error like others, not a death.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return Program(version, commit).run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "quire: %s\n", error.what());
        return kRefused;
    }
}

}  // namespace quire::cli

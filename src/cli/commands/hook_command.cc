// quire hook: answers the hooks of agents that bring their own editor and shell. An agent calls it before
// and after it uses such a tool (cli/exchange/hook_event.h has the agents' forms).
//
// The hook before a tool asks the rules for files. A shell command is predicted, as one that runs without
// a stage. Then the hook announces the changes to the kernel, which attributes them to the agent. The hook
// after a tool has the kernel take the files in. A broken hook must not stop an agent, so every failure is
// answered with `{}`; but an agent that asks for a work tree is told why it gets none.
//
//     before a tool     rules -> deny or ask; else announce the change, and say who else is at work
//     after a tool      take the files in; say what is forbidden or in conflict
//     a turn            refresh the adopted tree before it, land it after it
//     a work tree       make or remove one
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/hook_trees.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"
#include "cli/exchange/hook_event.h"
#include "cli/settings/config.h"
#include "cli/settings/workspace.h"
#include "fs/hash.h"
#include "json/json.h"
#include "json/members.h"
#include "kernel/commands/forecast.h"
#include "policy/path_rules.h"
#include "shell/disk_tree.h"
#include "shell/judge.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

namespace files = std::filesystem;
using shell::Decision;
using Verdict = HookAnswer::Verdict;

struct HookOptions {
    std::string agent;  // "" if the event has to tell.
};

// The effects of a tool call, and the rules' decision about them.
struct HookUse {
    Decision decision = Decision::allow;
    shell::Judgement judgement;
    std::vector<shell::Warning> warnings;
    // The paths that it is to change, from the workspace's root.
    std::vector<std::string> changed;
    // The tool may change other files too.
    bool is_uncertain = false;
};

// Follows links and returns the path from the workspace's root; none for a path outside of it.
std::optional<std::string> path_within(const files::path& root, const files::path& cwd,
                                       const std::string& path) {
    std::error_code failed;
    const files::path real = files::weakly_canonical(cwd / path, failed);
    if (failed) return std::nullopt;
    std::string within = real.lexically_relative(root).string();
    if (within.empty() || within == "." || within.starts_with("..")) return std::nullopt;
    return within;
}

// The hash of the bytes that the file will have after the change; "" if the event does not say. The
// kernel recognises the agent's own change by it, even when others write the file at the same time.
std::string hash_after(const HookPath& change, const std::string& path) {
    if (change.content) return fs::Hash::of(*change.content).hex();
    Result<std::string> text = read_file(path);
    if (!text || change.replacements.empty()) return "";
    for (const HookPath::Replacement& each : change.replacements) {
        std::size_t at = each.before.empty() ? std::string::npos : text->find(each.before);
        if (at == std::string::npos) return "";
        for (; at != std::string::npos; at = text->find(each.before, at + each.after.size())) {
            text->replace(at, each.before.size(), each.after);
            if (!each.all) break;
        }
    }
    return fs::Hash::of(*text).hex();
}

// Predicts the effects of an editing tool. The rules do not cover files outside of the workspace.
shell::Prediction prediction_of(const HookEvent& event, const files::path& root) {
    shell::Prediction out;
    for (const HookPath& each : event.paths) {
        const auto path = path_within(root, event.cwd, each.path);
        if (!path) continue;
        std::error_code failed;
        using Use = HookPath::Use;
        const shell::Effect effect = each.use == Use::read                 ? shell::Effect::read
                                     : each.use == Use::erase              ? shell::Effect::erase
                                     : files::exists(root / *path, failed) ? shell::Effect::write
                                                                           : shell::Effect::create;
        out.effects.push_back({*path, effect});
    }
    return out;
}

// An editing tool names its files; a shell command is predicted. Both end in the same lists, so the
// rules are asked in one way.
HookUse use_of(const HookEvent& event, const Settings& settings, const files::path& root,
               const policy::Actor& by) {
    const policy::PathRules rules(settings.files.rules);
    HookUse out;
    shell::Prediction prediction;
    if (event.command) {
        kernel::CommandForecast forecast = kernel::forecast_command(
            *event.command, root.string(), event.cwd, rules, settings.shell.enforcement, by);
        out.decision = forecast.decision;
        out.judgement = std::move(forecast.judgement);
        prediction = std::move(forecast.prediction);
    } else {
        prediction = prediction_of(event, root);
        shell::Situation situation;
        situation.root = situation.cwd = root.string();
        out.judgement = shell::judge(prediction, situation, shell::DiskTree(), rules, by);
        out.decision = shell::under(settings.shell.enforcement, out.judgement.decision);
    }
    for (const shell::Predicted& each : prediction.effects) {
        const bool is_change =
            each.effect != shell::Effect::read && each.effect != shell::Effect::execute;
        if (is_change && !each.path.starts_with('/') && !each.path.empty())
            out.changed.push_back(each.path);
    }
    out.warnings = std::move(prediction.warnings);
    out.is_uncertain = !out.warnings.empty();
    return out;
}

std::string objection_text(const shell::Objection& each) {
    return cat(name_of(each.effect), " ", text::escape_hidden(each.path), ": ",
               text::escape_hidden(each.reason));
}

// The verdict of the rules, with their first objection.
HookAnswer verdict_on(const HookUse& use) {
    HookAnswer out;
    const auto& violations = use.judgement.violations;
    const auto& escalations = use.judgement.escalations;
    const std::string warning = use.warnings.empty()
                                    ? "it cannot be told what it does"
                                    : text::escape_hidden(use.warnings.front().why);
    if (use.decision == Decision::block) {
        out.verdict = Verdict::deny;
        out.reason = violations.empty() ? warning : objection_text(violations.front());
        out.reason = cat("quire's rules forbid this: ", out.reason);
    } else if (use.decision == Decision::require_escalation) {
        out.verdict = Verdict::ask;
        out.reason = cat("quire's rules want a person to approve this: ",
                         escalations.empty() ? warning : objection_text(escalations.front()));
    }
    return out;
}

std::string age_text(std::int64_t seconds) {
    return seconds < 120 ? cat(seconds, " seconds ago") : cat(seconds / 60, " minutes ago");
}

// Names the other actors who changed the files recently.
std::string others_text(const Value& answer) {
    std::string out;
    for (const Value& row : json::list_in(answer, "files")) {
        cat_to(out, cat(out.empty() ? "" : "; ", json::text_in(row, "actor"), " changed ",
                        text::escape_hidden(json::text_in(row, "path")), " ",
                        age_text(json::number_in(row, "seconds"))));
    }
    return out.empty()
               ? out
               : cat("Others are at work here: ", out, ". Read a file again before you change it.");
}

// The announcement to the kernel. Files with known future bytes come first. Hashes belong to the
// first paths in order. A file whose future bytes are unknown has "".
Map told_before(const HookEvent& event, const HookUse& use, const files::path& root) {
    List paths, hashes;
    for (const HookPath& each : event.paths) {
        const auto path = path_within(root, event.cwd, each.path);
        if (!path || each.use != HookPath::Use::change) continue;
        paths.emplace_back(*path);
        hashes.emplace_back(hash_after(each, (root / *path).string()));
    }
    for (const std::string& path : use.changed) {
        if (std::ranges::find(paths, Value(path)) == paths.end()) paths.emplace_back(path);
    }
    return {{"key", event.key}, {"paths", std::move(paths)}, {"hashes", std::move(hashes)}};
}

// The paths that the tool names or the command is predicted to change.
std::vector<std::string> paths_changed(const HookEvent& event, const HookUse& use,
                                       const files::path& root) {
    std::vector<std::string> out = use.changed;
    for (const HookPath& each : event.paths) {
        const auto path = path_within(root, event.cwd, each.path);
        if (path && each.use != HookPath::Use::read && std::ranges::find(out, *path) == out.end())
            out.push_back(*path);
    }
    return out;
}

// `tree`: the adopted tree in which the agent works; "" for the workspace itself. A denied tool
// will not run, so nothing is announced for it.
HookAnswer before(const Globals& globals, const HookEvent& event, const Settings& settings,
                  const HookUse& use, const files::path& root, const std::string& tree) {
    HookAnswer out = verdict_on(use);
    const bool changes = !use.changed.empty() || use.is_uncertain;
    if (out.verdict == Verdict::deny || !changes) return out;
    std::optional<Result<CommandClient>> running = running_kernel(globals);
    if (!running || !*running) {
        // A change in an adopted tree is attributed when it lands. Starting a kernel is not the
        // hook's business: an agent would wait for it on every call.
        if (tree.empty() && out.verdict == Verdict::none && !use.changed.empty() &&
            settings.shell.enforcement == shell::Enforcement::strict) {
            out.verdict = Verdict::ask;
            out.reason =
                "no quire kernel runs here, so nobody would know who made this change, and "
                "it could not be taken back; quire mcp or quire serve starts one";
        }
        return out;
    }
    CommandClient& client = **running;
    if (tree.empty()) {
        const Result<Value> told = client.request("hook_before", told_before(event, use, root));
        if (told) out.context = others_text(*told);
    }
    const std::string claims =
        claims_text(client, globals, event, tree, paths_changed(event, use, root));
    if (!claims.empty()) cat_to(out.context, cat(out.context.empty() ? "" : " ", claims));
    return out;
}

// The tool's changes in an adopted tree, which the rules meet when it lands.
HookAnswer after_in_tree(const HookUse& use, bool is_command) {
    HookAnswer out;
    for (const shell::Objection& each : use.judgement.violations) {
        if (is_command || each.effect == shell::Effect::read) continue;
        cat_to(out.reason, cat(out.reason.empty()
                                   ? "quire's rules forbid what was done, so this tree cannot land "
                                     "before it is taken back: "
                                   : "; ",
                               objection_text(each)));
    }
    return out;
}

// The rules are asked again: an editing tool may have run although the hook before it refused.
HookAnswer after(const Globals& globals, const HookEvent& event, const HookUse& use) {
    HookAnswer out;
    std::optional<Result<CommandClient>> running = running_kernel(globals);
    if (!running || !*running) return out;
    CommandClient& client = **running;
    // The changes of a command were announced before it ran.
    const std::vector<std::string> none;
    const auto& changed = event.command ? none : use.changed;
    const Result<Value> taken = client.request(
        "hook_after", Map{{"key", event.key}, {"paths", List(changed.begin(), changed.end())}});
    for (const shell::Objection& each : use.judgement.violations) {
        if (event.command || each.effect == shell::Effect::read) continue;
        cat_to(out.reason,
               cat(out.reason.empty() ? "quire's rules forbid what was done: " : "; ",
                   objection_text(each), ". `quire undo ", text::escape_hidden(each.path),
                   " --actor ", globals.actor, "` takes it back"));
    }
    if (!taken) return out;
    for (const Value& row : json::list_in(*taken, "files")) {
        if (json::text_in(row, "result") != "NeedsResolution") continue;
        cat_to(out.context,
               cat(out.context.empty() ? "" : " ", text::escape_hidden(json::text_in(row, "path")),
                   " conflicts with edits of others that are not saved: `quire file "
                   "conflicts` shows both sides, and `quire file resolve` settles it."));
    }
    if (const std::int64_t pending = json::number_in(*taken, "pending"); pending != 0) {
        cat_to(out.context, cat(out.context.empty() ? "" : " ", pending,
                                " changed files are still being taken in."));
    }
    return out;
}

// The event, with the workspace and the actor that it is about.
struct HookPlace {
    Globals globals;
    std::string tree;  // The adopted tree in which the agent works; "" for the workspace.
};

// Returns none if the event is about a directory in no workspace. The event's directory decides and
// not the hook's own: agents start hooks anywhere.
std::optional<HookPlace> place_of(const Globals& globals, const HookEvent& event) {
    HookPlace out{globals, ""};
    if (!globals.actor_named) out.globals.actor = cat("agent:", name_of(event.agent));
    if (!event.is_about_tool()) out.globals.touches = Touches::writes;
    if (globals.workspace_named) return out;
    const bool names_tree =
        event.moment == HookMoment::worktree_unwanted && !event.worktree.empty();
    const Result<FoundWorkspace> found = find_workspace(names_tree ? event.worktree : event.cwd);
    if (!found || !found->is_there) return std::nullopt;
    out.globals.workspace = found->directory;
    out.tree = found->tree;
    // A tree that is adopted for somebody is theirs, whatever program works in it.
    if (!globals.actor_named && policy::Actor::parse(found->tree_actor))
        out.globals.actor = found->tree_actor;
    return out;
}

Map answer_to(const HookPlace& place, const HookEvent& event) {
    const Globals& globals = place.globals;
    const Result<policy::Actor> by = policy::Actor::parse(globals.actor);
    std::error_code failed;
    const files::path root =
        files::canonical(place.tree.empty() ? globals.workspace : place.tree, failed);
    if (!by || failed) return {};
    const Result<Settings> settings = load_config(globals.workspace);
    // An unreadable quire.toml may forbid anything, so the person is asked.
    if (!settings) {
        if (event.moment != HookMoment::before_tool) return {};
        return hook_answer(event, {Verdict::ask,
                                   cat("quire.toml cannot be read, so quire's rules are unknown: ",
                                       settings.error().message()),
                                   ""});
    }
    if (!event.is_about_tool()) {
        if (place.tree.empty()) return {};
        return hook_answer(event, answer_turn(globals, event, place.tree, settings->views.land));
    }
    const HookUse use = use_of(event, *settings, root, *by);
    if (!event.is_after())
        return hook_answer(event, before(globals, event, *settings, use, root, place.tree));
    return hook_answer(event, place.tree.empty() ? after(globals, event, use)
                                                 : after_in_tree(use, event.command.has_value()));
}

// An agent takes what is printed as the path of the work tree, and a failure as one of its own.
Result<int> answer_worktree(const Globals& globals, const HookEvent& event) {
    if (event.moment == HookMoment::worktree_wanted) {
        const std::string path = TRY(make_worktree(globals, event));
        return output(path + "\n");
    }
    const Result<Settings> settings = load_config(globals.workspace);
    TRY(remove_worktree(globals, event, settings ? settings->views.land : LandWhen::manual));
    return kDone;
}

Result<int> run_hook(const Globals& globals, const HookOptions& options) {
    // A person who tries the command would wait for ever.
    if (::isatty(STDIN_FILENO) != 0) {
        return invalid(
            "invalid_arguments",
            "hook reads an agent's event from standard input, and is called by the agent; "
            "quire init --agent NAME tells the agent to");
    }
    const Result<Value> given = json::parse(read_standard_input());
    std::optional<HookAgent> agent;
    if (!options.agent.empty()) agent = enum_named<HookAgent>(options.agent);
    auto event = given ? read_hook_event(*given, agent) : std::nullopt;
    if (!event) return output_json(Map{});
    if (event->cwd.empty()) event->cwd = globals.workspace;
    const std::optional<HookPlace> place = place_of(globals, *event);
    const bool is_about_worktree = event->moment == HookMoment::worktree_wanted ||
                                   event->moment == HookMoment::worktree_unwanted;
    if (!is_about_worktree) return output_json(place ? answer_to(*place, *event) : Map{});
    if (!place) {
        return fail(Errc::not_found, "no_such_workspace",
                    "there is no quire workspace here; quire init makes one");
    }
    return answer_worktree(place->globals, *event);
}

void add_hook_options(CLI::App& app, HookOptions& options) {
    app.add_option(
           "--agent", options.agent,
           "Whose hook this is: claude, codex, cursor or gemini; otherwise told from the event")
        ->type_name("NAME")
        ->check(CLI::IsMember({"claude", "codex", "cursor", "gemini"}));
}

}  // namespace

Command hook_command() {
    return {.name = "hook",
            .about =
                "Answer a coding agent's hook, given on standard input: may it do this, and what "
                "did it change",
            .example = R"(echo '{"hook_event_name":"PreToolUse","tool_name":"Read"}' | quire hook)",
            .action = action_with(add_hook_options, run_hook),
            .touches = Touches::looks,
            .is_for_programs = true};
}

}  // namespace quire::cli

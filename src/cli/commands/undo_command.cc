// quire undo: takes back changes, or does the last one again.
//
// With a block alone, it undoes the last change. Without one, or with --since, it undoes every change
// that the options select, block by block. Each change that is taken back is a version of its own, so that each can be
// redone. A block that refuses is reported with its reason, and the others are undone all the same.
//
//     options -> plan (blocks with their steps, and what commands changed beside texts)
//             -> --dry-run: print it
//             -> undo texts, then directories and other files, then what was in the way -> print
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/moment.h"
#include "cli/commands/target.h"
#include "cli/commands/terminal.h"
#include "cli/commands/undo_plan.h"
#include "cli/commands/workspace_path.h"
#include "json/json.h"
#include "json/members.h"
#include "rpc/jsonrpc.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

// The entries of the log that are looked through. The log is read as a whole in one answer, so it
// has a bound.
constexpr std::size_t kMostEntries = 100'000;

struct UndoOptions {
    std::string target;  // "" for all blocks.
    std::string actor;   // The author of the changes; "" for the caller.
    std::string since;   // "" for the last change alone.
    std::uint64_t call = 0;
    bool last_command = false;
    bool redo = false;
    bool any = false;
    bool dry_run = false;
};

// The changes that the options name, as the kernel's method takes them. A call and --any mean
// everybody's changes.
Map filter_of(const Globals& globals, const UndoOptions& options) {
    Map out;
    if (options.call == 0 && !options.any)
        out.append("actor", options.actor.empty() ? globals.actor : options.actor);
    if (!options.since.empty())
        out.append("since", *moment_of(options.since, SystemClock().wall_ms()));
    return out;
}

// --- the blocks ---

// The blocks that the actor changed since then, the latest first. Without a moment, the one with the
// actor's last change that can be undone. The log names the blocks, newest change first; each is
// then asked for what can be undone in it, since some of its changes may be undone already.
Result<std::vector<UndoneBlock>> blocks_by_actor(CommandClient& client, const Map& filter) {
    Map params{{"limit", kMostEntries}};
    if (const Value* const actor = filter.find("actor")) params.append("actor", *actor);
    const Value answer = TRY(client.request("log", std::move(params)));
    const List entries = json::list_in(answer, "entries");
    const Value* const since = filter.find("since");
    std::vector<UndoneBlock> out;
    std::vector<std::string> seen;
    for (const Value& entry : entries) {
        if (since != nullptr && moment_in(entry) < since->as_int()) break;
        UndoneBlock block{target_of(entry)};
        if (std::ranges::find(seen, block.target.block_id) != seen.end()) continue;
        seen.push_back(block.target.block_id);
        block.steps = TRY(steps_in(client, block.target.block_id, filter));
        if (block.steps.empty()) continue;
        out.push_back(std::move(block));
        if (since == nullptr) break;
    }
    return out;
}

// The file that was deleted last under that path; `missing` if there is none. A file that is gone
// has no block by its path, but the log has both.
Result<Target> deleted_file(const Globals& globals, CommandClient& client, const std::string& word,
                            Result<Target> missing) {
    const std::string path = workspace_path(globals, word);
    const Value answer = TRY(client.request("log", {{"limit", kMostEntries}}));
    for (const Value& entry : json::list_in(answer, "entries")) {
        if (json::text_in(entry, "path") != path) continue;
        Target found = target_of(entry);
        found.word = word;
        return found;
    }
    return missing;
}

Result<UndoPlan> plan_to_undo(const Globals& globals, CommandClient& client,
                              const UndoOptions& options, const Map& filter) {
    if (options.call != 0) return plan_for_call(client, options.call);
    if (options.last_command) return plan_for_last_command(client, filter);
    UndoPlan plan;
    if (options.target.empty()) {
        plan.blocks = TRY(blocks_by_actor(client, filter));
    } else {
        Result<Target> target = find_target(globals, client, options.target);
        if (!target && target.error().code() == Errc::not_found)
            target = deleted_file(globals, client, options.target, std::move(target));
        UndoneBlock block{TRY(std::move(target))};
        block.steps = TRY(steps_in(client, block.target.block_id, filter));
        if (!block.steps.empty()) plan.blocks.push_back(std::move(block));
    }
    if (!plan.blocks.empty()) return plan;
    const Value* const actor = filter.find("actor");
    return fail(
        Errc::not_found, "nothing_to_undo",
        cat(actor == nullptr ? std::string("nobody") : actor->as_string(), " has made no change ",
            options.target.empty() ? std::string("here")
                                   : cat("to ", text::escape_hidden(options.target)),
            options.since.empty() ? "" : " since then", " that is still to be undone"));
}

// --- undoing ---

// Memory is undone through its own tool, which asks the rules of each block, in the name of whoever
// made the change. That tool takes back an actor's last change alone. Errors also: conflict
// "changed_since" {version_id} if the change is not that.
Result<Value> undo_memory(const Globals& globals, CommandClient& client, const UndoneBlock& block) {
    Map sum{{"version", 0}, {"restored", 0}, {"removed", 0}, {"skipped_because_changed", 0}};
    // Newest first, so that each step is its actor's last when its turn comes.
    for (const Value& step : block.steps) {
        const std::string actor = json::text_in(step, "actor");
        const List last = TRY(steps_in(client, block.target.block_id, Map{{"actor", actor}}));
        const std::string version = json::text_in(step, "version_id");
        if (last.empty() || json::text_in(last.front(), "version_id") != version) {
            return fail(Errc::conflict, "changed_since",
                        cat(actor, " has changed ", text::escape_hidden(block.target.word),
                            " again since version ", version, "; undo that first"),
                        {{"version_id", version}});
        }
        Globals as_author = globals.with_whole_answers();
        as_author.actor = actor;
        const Value answer = TRY(call_once(
            as_author, "context", Map{{"operation", "undo"}, {"label", block.target.block_id}}));
        sum.set("version", json::number_in(answer, "version"));
        for (const char* member : {"restored", "removed", "skipped_because_changed"})
            sum.set(member, sum.find(member)->as_int() + json::number_in(answer, member));
    }
    return Value(std::move(sum));
}

Result<Value> undo_block(const Globals& globals, CommandClient& client, const UndoneBlock& block,
                         Map filter) {
    if (block.target.is_memory()) return undo_memory(globals, client, block);
    filter.set("block_id", block.target.block_id);
    return client.request("undo", std::move(filter));
}

// The changes of a command are on the disk, so their undo goes there too, whatever the settings say of edits.
void save_undone(CommandClient& client, UndoneBlock& block) {
    if (block.target.path.empty() || block.answer.get("file") != nullptr) return;
    Result<Value> saved =
        client.call("file", Map{{"operation", "save"}, {"path", block.target.path}});
    if (!saved) block.unsaved = std::move(saved).error();
}

// Undoes what the options select in one block, and notes the result.
void undo_in(const Globals& globals, CommandClient& client, const UndoPlan& plan, Map filter,
             UndoneBlock& block) {
    if (block.steps.empty()) return;
    // A land is done by one and the work of another.
    if (plan.is_call)
        filter = {{"version", std::stoll(json::text_in(block.steps.front(), "version_id"))}};
    Result<Value> undone = undo_block(globals, client, block, std::move(filter));
    // Somebody has deleted the file that the change made.
    const bool is_gone = !undone && undone.error().reason() == "file_not_found" &&
                         json::text_in(block.steps.front(), "description") == "create";
    if (is_gone) undone = Value(Map{{"file", "deleted"}});
    if (!undone) {
        block.refused = std::move(undone).error();
        return;
    }
    // A second attempt may follow a refusal.
    block.refused.reset();
    block.answer = std::move(*undone);
    if (!plan.command.empty()) save_undone(client, block);
}

// Directories must be empty before they go, so texts come first. A file whose place was taken by something
// that is not a text is tried again after that, and then what waits for that file.
Result<void> undo_all(const Globals& globals, CommandClient& client, const Map& filter,
                      UndoPlan& plan) {
    for (UndoneBlock& block : plan.blocks) undo_in(globals, client, plan, filter, block);
    const auto undo_paths = [&](UndonePaths& paths) -> Result<void> {
        if (paths.lost) return {};
        Map undone{{"past", paths.past}, {"dry_run", false}};
        paths.answer = TRY(client.request("undo_command", std::move(undone)));
        return {};
    };
    for (UndonePaths& paths : plan.paths) TRY(undo_paths(paths));
    if (plan.paths.empty()) return {};
    bool any = false;
    for (UndoneBlock& block : plan.blocks) {
        if (!block.refused) continue;
        undo_in(globals, client, plan, filter, block);
        any |= !block.refused;
    }
    for (UndonePaths& paths : plan.paths) {
        if (!any || json::list_in(paths.answer, "left").empty()) continue;
        List restored = json::list_in(paths.answer, "restored");
        TRY(undo_paths(paths));
        for (const Value& path : json::list_in(paths.answer, "restored")) restored.push_back(path);
        paths.answer =
            Map{{"restored", std::move(restored)}, {"left", json::list_in(paths.answer, "left")}};
    }
    return {};
}

// --- output ---

Map undone_json(const UndoneBlock& block) {
    Map out;
    append_names(out, block.target);
    if (block.refused) {
        out.append("error", rpc::error_value(*block.refused));
    } else if (block.answer.is_map()) {
        for (const Map::Entry& member : block.answer.as_map()) out.append(member.key, member.value);
    }
    out.append("undone", block.refused ? List() : block.steps);
    if (block.unsaved) out.append("unsaved", rpc::error_value(*block.unsaved));
    return out;
}

std::string steps_text(const List& steps) {
    std::string out;
    for (const Value& step : steps) {
        cat_to(out, cat("  v", json::text_in(step, "version_id"), "  ", local_time(moment_in(step)),
                        "  ", json::text_in(step, "actor"), "  ",
                        text::escape_hidden(json::text_in(step, "description")), "\n"));
    }
    return out;
}

std::string undone_text(const UndoneBlock& block, std::string_view word, bool dry_run) {
    const std::string name = text::escape_hidden(block.target.word);
    if (block.refused) {
        return cat(dry_run ? "Would not undo in " : "Not undone in ", name, ": ",
                   block.refused->message(), ".\n");
    }
    if (dry_run) return cat("Would undo in ", name, ":\n", steps_text(block.steps));
    const std::string file = json::text_in(block.answer, "file");
    if (file == "restored") return cat(word, ": ", name, " is there again.\n");
    if (file == "deleted") return cat(word, ": ", name, " is gone again.\n");
    const std::int64_t skipped = json::number_in(block.answer, "skipped_because_changed");
    return cat(
        word, " in ", name, ": ",
        block.steps.size() > 1 ? cat(plural(block.steps.size(), "change"), ", ") : "",
        json::number_in(block.answer, "restored"), " characters restored, ",
        json::number_in(block.answer, "removed"), " removed; now at version ",
        json::number_in(block.answer, "version"), ".\n",
        skipped > 0 ? cat(skipped, " were left alone: others have changed them since.\n") : "",
        block.unsaved ? cat("The file on the disk is as it was: ", block.unsaved->message(), "\n")
                      : "");
}

std::string paths_text(const UndonePaths& paths, bool dry_run) {
    if (paths.lost) return cat("Not undone: ", paths.lost->message(), ".\n");
    std::string out;
    const auto shown = [](const Value& path) { return text::escape_hidden(path.as_string()); };
    for (const Value& path : json::list_in(paths.answer, "restored"))
        cat_to(out, dry_run ? cat("Would put ", shown(path), " back as it was.\n")
                            : cat("Undone: ", shown(path), " is as it was.\n"));
    for (const Value& left : json::list_in(paths.answer, "left")) {
        cat_to(out, cat(dry_run ? "Would not undo: " : "Not undone: ",
                        text::escape_hidden(json::text_in(left, "message")), ".\n"));
    }
    return out;
}

// One block's answer stands alone; several are listed.
int print_undone(const Globals& globals, const UndoOptions& options, const UndoPlan& plan) {
    bool refused = std::ranges::any_of(
        plan.blocks, [](const UndoneBlock& block) { return block.refused.has_value(); });
    std::string text;
    if (!plan.command.empty())
        text = cat("The command `", text::escape_hidden(plan.command), "`:\n");
    List rows;
    for (const UndoneBlock& block : plan.blocks) {
        text += undone_text(block, "Undone", options.dry_run);
        rows.emplace_back(undone_json(block));
    }
    List restored;
    List left;
    for (const UndonePaths& paths : plan.paths) {
        text += paths_text(paths, options.dry_run);
        if (paths.lost) left.push_back(Map{{"message", paths.lost->message()}});
        for (const Value& path : json::list_in(paths.answer, "restored")) restored.push_back(path);
        for (const Value& path : json::list_in(paths.answer, "left")) left.push_back(path);
    }
    refused |= !left.empty();
    const bool is_one = !options.target.empty() && !options.dry_run;
    Map all{{"documents", std::move(rows)}, {"dry_run", options.dry_run}};
    if (!plan.paths.empty())
        all.append("paths", Map{{"restored", std::move(restored)}, {"left", std::move(left)}});
    const int printed = !globals.json ? output(text)
                        : is_one      ? output_json(all.find("documents")->as_list().front())
                                      : output_json(std::move(all));
    return refused && !options.dry_run ? kRefused : printed;
}

// Does again what was undone last, in the name of whoever made it.
Result<int> run_redo(const Globals& globals, const UndoOptions& options) {
    Globals as_author = globals.with_whole_answers();
    if (!options.actor.empty()) as_author.actor = options.actor;
    CommandClient client = TRY(CommandClient::attach(as_author));
    UndoneBlock block{TRY(find_target(globals, client, options.target))};
    if (block.target.is_memory()) {
        block.answer = TRY(
            client.call("context", Map{{"operation", "redo"}, {"label", block.target.block_id}}));
    } else {
        block.answer = TRY(client.call("block_redo", Map{{"block_id", block.target.block_id},
                                                         {"scope", options.any ? "any" : "own"}}));
    }
    if (globals.json) return output_json(undone_json(block));
    return output(undone_text(block, "Redone", false));
}

Result<int> run_undo(const Globals& globals, const UndoOptions& options) {
    const bool names_changes = !options.target.empty() || !options.actor.empty() ||
                               !options.since.empty() || options.call != 0 || options.last_command;
    if (!names_changes || (options.redo && options.target.empty())) {
        return invalid("invalid_arguments",
                       options.redo ? "name the block or the file in which to redo a change"
                                    : "name a block or a file, or say with --actor, --since, "
                                      "--call or --last-command which changes to undo");
    }
    if (options.redo) return run_redo(globals, options);
    CommandClient client = TRY(CommandClient::attach(globals.with_whole_answers()));
    const Map filter = filter_of(globals, options);
    UndoPlan plan = TRY(plan_to_undo(globals, client, options, filter));
    if (!options.dry_run) TRY(undo_all(globals, client, filter, plan));
    const bool is_one = plan.blocks.size() == 1 && plan.paths.empty();
    if (is_one && plan.blocks.front().refused) return Failure(*plan.blocks.front().refused);
    return print_undone(globals, options, plan);
}

void add_undo_options(CLI::App& app, UndoOptions& options) {
    CLI::Option* const target =
        app.add_option("target", options.target, cat(kTargetSays, "; without one, all blocks"))
            ->type_name(kTargetType);
    CLI::Option* const actor = app.add_option("-a,--actor", options.actor,
                                              "Undo this actor's changes; without it, your own")
                                   ->type_name("ACTOR")
                                   ->check(check_actor);
    CLI::Option* const since =
        app.add_option("--since", options.since,
                       cat("Undo all changes since then, not just the last: ", kMomentForms))
            ->type_name("TIME")
            ->check(check_moment);
    app.add_option("--call", options.call, "Undo what the call with this number did (quire audit)")
        ->type_name("NUMBER")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 53))
        ->excludes(target)
        ->excludes(actor)
        ->excludes(since);
    CLI::Option* const command =
        app.add_flag("--last-command", options.last_command,
                     "Undo all that your last command of the shell changed, or the actor's")
            ->excludes(target)
            ->excludes(since)
            ->excludes("--call");
    app.add_flag("--any", options.any, "Whoever made the change")->excludes(actor);
    CLI::Option* const dry =
        app.add_flag("--dry-run", options.dry_run, "Print what would be undone, and undo nothing");
    app.add_flag("--redo", options.redo, "Redo the change that was undone last")
        ->excludes(since)
        ->excludes(command)
        ->excludes(dry);
}

}  // namespace

Command undo_command() {
    return {.name = "undo",
            .about =
                "Undo the last change to a block or a file, or an actor's changes since some "
                "time everywhere; others' changes stay",
            .example = "quire undo --actor agent:ada --since 1h --dry-run",
            .action = action_with(add_undo_options, run_undo)};
}

}  // namespace quire::cli

// A call's effects are in the audit log and nowhere else: entries of its end and of the commands
// that it ran name blocks with versions, and the record of what was changed beside texts. The log
// is read backwards, a page at a time, to the place that is wanted. The kernel is then asked which
// of it can still be undone.
#include "cli/commands/undo_plan.h"

#include <utility>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/terminal.h"
#include "json/json.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

// The blocks with their versions, and the records, that entries of the audit log name. Entries add
// up, since one call may have several.
struct Changed {
    List blocks;
    std::vector<std::string> pasts;
    std::string command;  // The shell command that changed them.
    bool empty() const { return blocks.empty() && pasts.empty(); }
    bool is_one() const { return blocks.size() == 1 && pasts.empty(); }

    void take(const Value& entry) {
        const List several = json::list_in(entry, "blocks");
        blocks.insert(blocks.end(), several.begin(), several.end());
        // A call that changed one block says so in its own entry.
        const bool is_one = several.empty() && json::text_in(entry, "outcome") == "done" &&
                            !json::text_in(entry, "block_id").empty() &&
                            entry.get("version") != nullptr;
        if (is_one) blocks.push_back(entry);
        if (json::text_in(entry, "event") == "command") command = json::text_in(entry, "shell");
        std::string past = json::text_in(entry, "past");
        if (!past.empty()) pasts.push_back(std::move(past));
    }
};

// Calls `take` with the audit log's entries, newest first, until it returns true. Returns false at the end.
template <class Take>
Result<bool> find_in_audit(CommandClient& client, Map params, Take take) {
    params.set("limit", 1000);
    for (;;) {
        const Value page = TRY(client.request("audit", params));
        for (const Value& row : json::list_in(page, "entries")) {
            const Result<Value> entry = json::parse(json::text_in(row, "body"));
            if (entry && take(*entry)) return true;
        }
        const std::int64_t next = json::number_in(page, "next");
        if (next == 0) return false;
        params.set("before", next);
    }
}

// Plans the undo of what is not undone yet. `call` is the call's name in messages. Errors: not_found
// "nothing_to_undo".
Result<UndoPlan> plan_for(CommandClient& client, const Changed& changed, const std::string& call,
                          Map details) {
    UndoPlan plan{{}, {}, changed.command, true};
    for (const Value& each : changed.blocks) {
        UndoneBlock block{target_of(each)};
        Result<List> steps = steps_in(client, block.target.block_id,
                                      Map{{"version", json::number_in(each, "version")}});
        // It is undone already.
        if (steps && steps->empty()) continue;
        if (steps) {
            block.steps = std::move(*steps);
        // With one block its error is the answer; with several each stands beside its block.
        } else if (changed.is_one()) {
            return Failure(std::move(steps).error());
        } else {
            block.refused = std::move(steps).error();
        }
        plan.blocks.push_back(std::move(block));
    }
    for (const std::string& past : changed.pasts) {
        Result<Value> preview = client.request("undo_command", {{"past", past}, {"dry_run", true}});
        if (!preview) {
            if (preview.error().reason() != "nothing_to_undo")
                return Failure(std::move(preview).error());
            plan.paths.push_back({past, {}, std::move(preview).error()});
            continue;
        }
        const bool is_empty =
            json::list_in(*preview, "restored").empty() && json::list_in(*preview, "left").empty();
        if (!is_empty) plan.paths.push_back({past, std::move(*preview)});
    }
    if (!plan.blocks.empty() || !plan.paths.empty()) return plan;
    const std::string what = changed.blocks.empty()       ? std::string("something beside texts")
                             : changed.blocks.size() == 1 ? target_of(changed.blocks.front()).word
                                                          : plural(changed.blocks.size(), "block");
    return fail(Errc::not_found, "nothing_to_undo",
                cat(call, " changed ", what, ", which is undone already or cannot be undone"),
                std::move(details));
}

}  // namespace

Target target_of(const Value& entry) {
    const std::string id = json::text_in(entry, "block_id");
    Target out{id, id, json::text_in(entry, "path"), json::text_in(entry, "label")};
    if (!out.path.empty()) out.word = out.path;
    if (!out.label.empty()) out.word = cat(json::text_in(entry, "owner"), "/", out.label);
    return out;
}

Result<List> steps_in(CommandClient& client, const std::string& block_id, Map filter) {
    filter.set("block_id", block_id);
    return json::list_in(TRY(client.request("undoable", std::move(filter))), "steps");
}

// A background command is logged after its call.
Result<UndoPlan> plan_for_call(CommandClient& client, std::uint64_t number) {
    bool is_known = false;
    Changed changed;
    TRY(find_in_audit(client, {}, [&](const Value& entry) {
        const std::string event = json::text_in(entry, "event");
        // Numbers of calls begin anew with each kernel. The newest call of the number is meant, so
        // the search goes beyond a start only until the call is found.
        if (event == "start") return is_known;
        if (json::number_in(entry, "call") != static_cast<std::int64_t>(number)) return false;
        if (event == "end" || event == "command") changed.take(entry);
        is_known |= event == "end" || event == "command";
        return is_known && event == "call";
    }));
    Map details{{"call", number}};
    if (!is_known) {
        return fail(Errc::not_found, "no_such_call",
                    cat("there is no call ", number, "; quire audit shows those there are"),
                    std::move(details));
    }
    if (changed.empty()) {
        return fail(Errc::not_found, "no_such_call",
                    cat("call ", number, " changed no block; quire audit shows it"),
                    std::move(details));
    }
    return plan_for(client, changed, cat("call ", number), std::move(details));
}

Result<UndoPlan> plan_for_last_command(CommandClient& client, const Map& filter) {
    Changed changed;
    Map params;
    const Value* const actor = filter.find("actor");
    if (actor != nullptr) params.append("actor", *actor);
    TRY(find_in_audit(client, std::move(params), [&](const Value& entry) {
        if (json::text_in(entry, "event") != "command") return false;
        changed.take(entry);
        return !changed.empty();
    }));
    if (changed.empty()) {
        return fail(Errc::not_found, "no_such_call",
                    cat("no command of ", actor == nullptr ? "anyone" : actor->as_string(),
                        " has changed anything; quire audit shows what ran"));
    }
    return plan_for(client, changed, cat("`", text::escape_hidden(changed.command), "`"), {});
}

}  // namespace quire::cli

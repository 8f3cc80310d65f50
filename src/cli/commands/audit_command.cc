// quire audit: prints the log of calls and what became of them, and verifies that it is intact.
//
// The log is read newest first, a page at a time. An entry's body is kept as the bytes that were
// hashed, so that --json prints exactly those.
//
// `verify` has the kernel check the chain, and then judges what is missing: entries that were lost
// with the store's commits are told apart from a log that somebody has cut, by the files that such
// a loss leaves.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/concat.h"
#include "base/hex.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/moment.h"
#include "cli/commands/terminal.h"
#include "cli/compose/store_losses.h"
#include "json/json.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

// The entries that are asked for at once.
constexpr std::size_t kAuditPage = 1000;

struct AuditOptions {
    std::string actor, tool, reason;  // "" for all.
    std::string since;                // A time, or how long ago: moment_of().
    bool refused = false;
    bool missed = false;
    std::size_t limit = 50;
    bool all = false;  // Ignores the limit.
};

struct AuditVerifyOptions {
    std::vector<std::string> heads;  // Hashes that entries of the log must have.
};

// A member of the entry, escaped: whoever can write to the database can write anything into it.
std::string safe(const Value& entry, std::string_view member) {
    return text::escape_hidden(json::text_in(entry, member));
}

std::string call_name(const Value& entry) {
    const std::string operation = safe(entry, "operation");
    return operation.empty() ? safe(entry, "tool") : cat(safe(entry, "tool"), ".", operation);
}

// A call that was carried out names what it was about, with the version that it made.
std::string call_outcome(const Value& entry) {
    const std::string word = json::text_in(entry, "outcome");
    if (word == "refused") {
        return coloured(cat("refused: ", safe(entry, "code"), " ", safe(entry, "reason")),
                        Colour::red);
    }
    if (word == "escalated")
        return coloured(cat("waits for a person: ", safe(entry, "approval_id")), Colour::yellow);
    std::string out = "done";
    const std::string block = safe(entry, "block_id");
    std::string name = safe(entry, "path");
    if (name.empty()) name = safe(entry, "label");
    if (!name.empty() && !block.empty()) {
        out += cat(": ", name, " (", block, ")");
    } else if (!block.empty()) {
        out += cat(": ", block);
    }
    if (entry.get("version") != nullptr) out += cat(" v", json::number_in(entry, "version"));
    return out;
}

// The words of a list, escaped, and the number of those that were left out.
std::string listed(const Value& entry, const std::string& member) {
    std::string out;
    for (const Value& each : json::list_in(entry, member)) {
        if (each.is_string())
            cat_to(out, cat(out.empty() ? "" : ", ", text::escape_hidden(each.as_string())));
    }
    const std::int64_t more = json::number_in(entry, cat(member, "_more"));
    return more == 0 ? out : cat(out, " and ", more, " more");
}

// The text about a command that ran, with its changes.
std::string command_event(const Value& entry) {
    // The number of its call was another kernel's.
    const Value* const completed = entry.get("completed");
    const bool is_completed = completed != nullptr && completed->is_bool() && completed->as_bool();
    const std::string begin = is_completed
                                  ? std::string("a kernel was killed, and this one completed `")
                                  : cat("#", json::number_in(entry, "call"), " ran `");
    std::string out =
        cat(begin, safe(entry, "shell"), "`: exit code ", json::number_in(entry, "exit_code"), ", ",
            safe(entry, "outcome"), " (", safe(entry, "tier"), ")");
    std::string changed;
    for (const Value& each : json::list_in(entry, "blocks"))
        cat_to(changed, cat(changed.empty() ? "" : ", ", safe(each, "path"), " v",
                            json::number_in(each, "version")));
    if (!changed.empty()) cat_to(out, cat("; changed ", changed));
    for (const auto& [member, words] :
         {std::pair("without_history", "changed without a history"),
          std::pair("left_out", "left out"), std::pair("missed", "not predicted")}) {
        const std::string paths = listed(entry, member);
        if (!paths.empty()) cat_to(out, cat("; ", words, ": ", paths));
    }
    return out;
}

std::string approval_change(const Value& entry) {
    return cat(safe(entry, "approval_id"), " ", safe(entry, "change"), " by ", safe(entry, "by"),
               ": ", safe(entry, "asks"), " ", safe(entry, "target"));
}

// An event of a later version, which is not known here, is printed as it is.
std::string audit_event(const Value& entry) {
    const std::string event = json::text_in(entry, "event");
    const std::string number = cat("#", json::number_in(entry, "call"), " ");
    if (event == "start") return cat("the kernel starts, quire ", safe(entry, "version"));
    if (event == "stop") return "the kernel stops";
    if (event == "lost")
        return cat(json::number_in(entry, "entries"),
                   " entries are missing: the log's buffer was full");
    if (event == "approval") return approval_change(entry);
    if (event == "call") return cat(number, call_name(entry), " ", safe(entry, "arguments"));
    if (event == "end") return cat(number, call_name(entry), " ", call_outcome(entry));
    if (event == "command") return command_event(entry);
    if (event == "read")
        return cat(number, call_name(entry), " ", safe(entry, "arguments"), " ",
                   call_outcome(entry));
    return text::escape_hidden(json::write(entry));
}

// The body is parsed only for showing. One that cannot be parsed was changed in the database.
std::string audit_line(const Value& row) {
    const std::string seq = cat(json::number_in(row, "seq"));
    const Result<Value> entry = json::parse(json::text_in(row, "body"));
    if (!entry) return cat(seq, "  ", coloured("unreadable", Colour::red), "\n");
    return cat(coloured(local_time(json::number_in(*entry, "at")), Colour::grey), "  ", seq, "  ",
               coloured(safe(*entry, "actor"), Colour::cyan), "  ", audit_event(*entry), "\n");
}

// The entry byte for byte as it was hashed.
std::string audit_json(const Value& row) {
    const std::string body = json::text_in(row, "body");
    const std::string begin = cat(R"({"seq":)", json::number_in(row, "seq"), R"(,"hash":")",
                                  json::text_in(row, "hash"), "\",");
    // The body goes out unchanged only if the line stays one JSON value; else it becomes a string.
    if (json::parse(body) && body.find('\n') == std::string::npos)
        return cat(begin, R"("entry":)", body, "}\n");
    return cat(begin, R"("damaged":)", json::write(Value(body)), "}\n");
}

// Pages are printed as they come, so a reader who closes the pipe ends the command.
Result<int> print_audit(const Globals& globals, const AuditOptions& options) {
    CommandClient client = TRY(CommandClient::attach(globals));
    Map params{{"actor", options.actor}, {"tool", options.tool}, {"reason", options.reason}};
    params.append("refused", options.refused);
    params.append("missed", options.missed);
    if (!options.since.empty()) {
        const auto since = moment_of(options.since, SystemClock().wall_ms());
        if (since) params.append("since", *since);
    }
    std::size_t left = options.all ? SIZE_MAX : options.limit;
    bool any = false;
    while (left > 0) {
        params.set("limit", std::min(left, kAuditPage));
        const Value answer = TRY(client.request("audit", params));
        const List rows = json::list_in(answer, "entries");
        std::string text;
        for (const Value& row : rows) text += globals.json ? audit_json(row) : audit_line(row);
        if (!print(text)) return kRefused;
        any = any || !rows.empty();
        left -= std::min(left, rows.size());
        const std::int64_t next = json::number_in(answer, "next");
        if (next == 0) break;
        params.set("before", next);
    }
    if (!any && !globals.json) complain("no entry matches");
    return kDone;
}

// The end of the log that a loss of commits is known to have taken entries from.
struct LostHead {
    std::uint64_t seq = 0;
    std::string hash;
    std::string directory;  // The evidence.
};

// The ends of the log that the kept files of past losses name.
std::vector<LostHead> lost_heads(const std::string& workspace) {
    std::vector<LostHead> out;
    for (const auto& lost : store_losses(workspace)) {
        if (lost.audit_seq > 0)
            out.push_back({lost.audit_seq, to_hex(lost.audit_head), lost.directory});
    }
    return out;
}

// Takes what was lost out of the hashes that no entry has. The log has an entry where the lost
// commits held none.
List take_lost(std::vector<LostHead>& lost, List missing) {
    std::erase_if(lost, [&](const LostHead& each) {
        return std::ranges::find(missing, Value(each.hash)) == missing.end();
    });
    std::erase_if(missing, [&](const Value& hash) {
        return std::ranges::find(lost, hash.as_string(), &LostHead::hash) != lost.end();
    });
    return missing;
}

Result<int> verify_audit(const Globals& globals, const AuditVerifyOptions& options) {
    std::vector<LostHead> lost = lost_heads(globals.workspace);
    List heads(options.heads.begin(), options.heads.end());
    for (const LostHead& each : lost) heads.emplace_back(each.hash);
    Value answer = TRY(request_once(globals, "verify_audit", Map{{"heads", std::move(heads)}}));
    // Hashes that are missing because of a known loss are not held against the log twice, but the
    // exit code is kRefused in both cases: the log is not whole.
    const Value* broken = answer.get("broken");
    const List missing = take_lost(lost, json::list_in(answer, "missing"));
    const bool whole = broken == nullptr && missing.empty() && lost.empty();
    if (globals.json) {
        List rows;
        for (const LostHead& each : lost) {
            rows.push_back(
                Map{{"seq", each.seq}, {"hash", each.hash}, {"directory", each.directory}});
        }
        Map& out = answer.as_map();
        out.set("missing", missing);
        out.append("lost", std::move(rows));
        out.append("whole", whole);
        return output_json(answer) == kDone && whole ? kDone : kRefused;
    }

    const bool printed =
        print(cat(json::number_in(answer, "entries"),
                  " entries, each with the hash of the one before it; the head is\n",
                  json::text_in(answer, "head"), "\n"));
    if (broken != nullptr) {
        complain(cat("entry ", json::number_in(*broken, "seq"),
                     " is broken: ", safe(*broken, "what"),
                     ". It or an entry before it was changed, so it and all later entries prove "
                     "nothing"));
    }
    for (const Value& head : missing) {
        complain(cat("no entry has the hash ", text::escape_hidden(head.as_string()),
                     ": the log was cut or rewritten since that hash was printed"));
    }
    for (const LostHead& each : lost) {
        complain(cat("entries up to number ", each.seq, ", whose hash was ", each.hash,
                     ", were lost with acknowledged commits: ", each.directory,
                     " has the files as they were found. What follows from the last entry that is "
                     "left proves nothing about them"));
    }
    return printed && whole ? kDone : kRefused;
}

void add_audit_options(CLI::App& app, AuditOptions& options) {
    app.add_option("-a,--actor", options.actor, "Only this actor's calls and answers")
        ->type_name("ACTOR")
        ->check(check_actor);
    app.add_option("--tool", options.tool,
                   "Only calls of this tool, or of one of its operations: context.set_field")
        ->type_name("TOOL");
    app.add_option("--since", options.since, cat("Only entries since then: ", kMomentForms))
        ->type_name("TIME")
        ->check(check_moment);
    app.add_flag("--refused", options.refused, "Only calls that were refused or wait for a person");
    app.add_flag("--missed", options.missed,
                 "Only commands of the shell that changed what was not predicted");
    app.add_option("--reason", options.reason, "Only refusals with this reason")
        ->type_name("REASON");
    CLI::Option* limit = app.add_option("-n,--limit", options.limit, "The number of entries");
    limit->check(CLI::Range(1, 1'000'000))->capture_default_str();
    app.add_flag("--all", options.all, "All entries, however many there are")->excludes(limit);
}

void add_audit_verify_options(CLI::App& app, AuditVerifyOptions& options) {
    app.add_option("--expect-head", options.heads,
                   "A hash that an earlier verify printed: an entry must still have it")
        ->type_name("HASH")
        ->check([](const std::string& text) {
            return text.size() == 64 &&
                           text.find_first_not_of("0123456789abcdef") == std::string::npos
                       ? std::string()
                       : std::string("a hash is 64 digits, 0 to 9 and a to f");
        });
}

}  // namespace

Command audit_command() {
    return {.name = "audit",
            .about =
                "Print calls, decisions and approvals, newest first; or verify that their log "
                "is intact",
            .example = "quire audit --tool context --since 2h --refused",
            .action = action_with(add_audit_options, print_audit),
            .subcommands = {{.name = "verify",
                             .about = "Verify the whole log, and print the hash of its last entry",
                             .example = "quire audit verify",
                             .action = action_with(add_audit_verify_options, verify_audit),
                             .touches = Touches::looks}},
            .touches = Touches::looks};
}

}  // namespace quire::cli

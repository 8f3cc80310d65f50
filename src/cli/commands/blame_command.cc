// quire blame: the author of each line of a file or a block, the time, and the call that wrote it.
//
// The kernel answers with stretches of lines that one version wrote. Which call made a version is
// in the audit log: its newest pages are searched, back to the oldest version that is needed, and
// at most kMostPages of them. A line whose call was not found shows what the history says.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/moment.h"
#include "cli/commands/target.h"
#include "cli/commands/terminal.h"
#include "json/json.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct BlameOptions {
    std::string target;
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        out.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return out;
}

// A call of a tool, as the audit log has it.
struct LoggedCall {
    std::int64_t number = 0;
    std::string tool;  // "file.replace"
};
using CallsByVersion = std::map<std::string, LoggedCall>;

// The calls that made the versions, as far as the newest entries of the audit log know them. What
// the disk and the kernel did was no call.
Result<CallsByVersion> calls_of(CommandClient& client, const Target& target,
                                const List& stretches) {
    constexpr int kMostPages = 20;
    std::set<std::string> wanted;
    std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
    // Versions of sources and of the system were made by no call, so they are not searched for.
    for (const Value& stretch : stretches) {
        const std::string actor = json::text_in(stretch, "actor");
        if (actor.starts_with("source:") || actor.starts_with("system:")) continue;
        wanted.insert(json::text_in(stretch, "version_id"));
        oldest = std::min(oldest, moment_in(stretch));
    }
    CallsByVersion out;
    Map params{{"limit", 1000}, {"since", oldest}};
    for (int page = 0; page < kMostPages && out.size() < wanted.size(); ++page) {
        const Value answer = TRY(client.request("audit", params));
        const List rows = json::list_in(answer, "entries");
        for (const Value& row : rows) {
            const Result<Value> entry = json::parse(json::text_in(row, "body"));
            const bool made = entry && json::text_in(*entry, "event") == "end" &&
                              json::text_in(*entry, "block_id") == target.block_id;
            if (!made) continue;
            const std::string version = cat(json::number_in(*entry, "version"));
            if (!wanted.contains(version)) continue;
            const std::string operation = json::text_in(*entry, "operation");
            out.emplace(version, LoggedCall{json::number_in(*entry, "call"),
                                            cat(json::text_in(*entry, "tool"),
                                                operation.empty() ? "" : ".", operation)});
        }
        const std::int64_t next = json::number_in(answer, "next");
        if (next == 0) break;
        params.set("before", next);
    }
    return out;
}

// "file.replace #12", or what the history says where no call is known.
std::string words_of(const Value& stretch, const CallsByVersion& calls) {
    const auto call = calls.find(json::text_in(stretch, "version_id"));
    return text::escape_hidden(call == calls.end()
                                   ? json::text_in(stretch, "description")
                                   : cat(call->second.tool, " #", call->second.number));
}

// The answer with an entry for each line: {line, version_id, timestamp, actor, description, tool?,
// call?, content}; lines count from 1. Stretches are half-open and count from 0.
Value blame_json(const Target& target, const Value& answer, std::vector<std::string> lines,
                 const CallsByVersion& calls) {
    Map out;
    append_names(out, target);
    out.append("version", json::number_in(answer, "version"));
    List rows;
    const List stretches = json::list_in(answer, "stretches");
    for (const Value& stretch : stretches) {
        const auto end = static_cast<std::size_t>(json::number_in(stretch, "end"));
        for (auto i = static_cast<std::size_t>(json::number_in(stretch, "start")); i < end; ++i) {
            Map row{{"line", i + 1}};
            for (const char* member : {"version_id", "timestamp", "actor", "description"})
                row.append(member, json::text_in(stretch, member));
            const auto call = calls.find(json::text_in(stretch, "version_id"));
            if (call != calls.end()) {
                row.append("tool", call->second.tool);
                row.append("call", call->second.number);
            }
            row.append("content", i < lines.size() ? std::move(lines[i]) : std::string());
            rows.push_back(std::move(row));
        }
    }
    out.append("lines", std::move(rows));
    return out;
}

// Every line repeats who wrote it, so that the output can be searched with line tools.
std::string blame_table(const Value& answer, const std::vector<std::string>& lines,
                        const CallsByVersion& calls) {
    const List stretches = json::list_in(answer, "stretches");
    std::size_t actor_width = 0;
    std::size_t word_width = 0;
    for (const Value& stretch : stretches) {
        actor_width = std::max(actor_width, json::text_in(stretch, "actor").size());
        word_width = std::max(word_width, words_of(stretch, calls).size());
    }
    const std::size_t number_width = cat(lines.size()).size();
    std::string out;
    for (const Value& stretch : stretches) {
        const std::string who = cat(
            coloured(padded(cat("v", json::text_in(stretch, "version_id")), 5), Colour::yellow),
            " ", coloured(padded(json::text_in(stretch, "actor"), actor_width), Colour::cyan), "  ",
            coloured(local_time(moment_in(stretch)), Colour::grey), "  ",
            padded(words_of(stretch, calls), word_width), "  ");
        const auto end = static_cast<std::size_t>(json::number_in(stretch, "end"));
        for (auto i = static_cast<std::size_t>(json::number_in(stretch, "start")); i < end; ++i) {
            const std::string number = cat(i + 1);
            cat_to(out, cat(who, std::string(number_width - number.size(), ' '), number, "  ",
                            i < lines.size() ? drawn_text(lines[i]) : "", "\n"));
        }
    }
    return out;
}

Result<int> run_blame(const Globals& globals, const BlameOptions& options) {
    CommandClient client = TRY(CommandClient::attach(globals.with_whole_answers()));
    const Target target = TRY(find_target(globals, client, options.target));
    const Value answer = TRY(client.request("blame", Map{{"block_id", target.block_id}}));
    std::vector<std::string> lines = lines_of(json::text_in(answer, "text"));
    const CallsByVersion calls =
        TRY(calls_of(client, target, json::list_in(answer, "stretches")));
    if (globals.json) return output_json(blame_json(target, answer, std::move(lines), calls));
    return output(blame_table(answer, lines, calls));
}

void add_blame_options(CLI::App& app, BlameOptions& options) {
    app.add_option("target", options.target, kTargetSays)->required()->type_name(kTargetType);
}

}  // namespace

Command blame_command() {
    return {.name = "blame",
            .about = "Print who wrote each line of a file or a block, when, and by which call",
            .example = "quire blame src/main.cc",
            .action = action_with(add_blame_options, run_blame),
            .touches = Touches::looks};
}

}  // namespace quire::cli

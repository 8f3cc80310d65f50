// quire blame: who wrote each line of a file or a block, when, and by which call.
#include <algorithm>
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

// The answer with an entry for each line: {line, content, version_id, timestamp, actor,
// description}; lines count from 1.
Value blame_json(const Target& target, const Value& answer, std::vector<std::string> lines) {
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
            row.append("content", i < lines.size() ? std::move(lines[i]) : std::string());
            rows.push_back(std::move(row));
        }
    }
    out.append("lines", std::move(rows));
    return out;
}

std::string blame_table(const Value& answer, const std::vector<std::string>& lines) {
    const List stretches = json::list_in(answer, "stretches");
    std::size_t actor_width = 0;
    std::size_t word_width = 0;
    for (const Value& stretch : stretches) {
        actor_width = std::max(actor_width, json::text_in(stretch, "actor").size());
        word_width = std::max(word_width, json::text_in(stretch, "description").size());
    }
    const std::size_t number_width = cat(lines.size()).size();
    std::string out;
    for (const Value& stretch : stretches) {
        const std::string who = cat(
            coloured(padded(cat("v", json::text_in(stretch, "version_id")), 5), Colour::yellow),
            " ", coloured(padded(json::text_in(stretch, "actor"), actor_width), Colour::cyan), "  ",
            coloured(local_time(moment_in(stretch)), Colour::grey), "  ",
            padded(text::escape_hidden(json::text_in(stretch, "description")), word_width), "  ");
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
    if (globals.json) return output_json(blame_json(target, answer, std::move(lines)));
    return output(blame_table(answer, lines));
}

void add_blame_options(CLI::App& app, BlameOptions& options) {
    app.add_option("target", options.target, kTargetSays)->required()->type_name(kTargetType);
}

}  // namespace

Command blame_command() {
    return {.name = "blame",
            .about = "Print who wrote each line of a file or a block, when, and by which operation",
            .example = "quire blame src/main.cc",
            .action = action_with(add_blame_options, run_blame),
            .touches = Touches::looks};
}

}  // namespace quire::cli

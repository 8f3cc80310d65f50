// quire search: lines in files, conversations and memory, as a person may read them.
//
// One call of the tool kernel_search; this command names places as people do, and prints a line for
// each line that matches, as grep does: NAME:LINE:TEXT.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "base/utf8.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/commands/workspace_path.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct SearchOptions {
    std::string query;
    std::string path_prefix;
    std::vector<std::string> kinds;
    bool is_literal = false;
    std::size_t most_blocks = 200;
};

// The words for people, and the kinds that the tool knows.
struct SearchPlace {
    const char* word;
    std::vector<const char*> kinds;
};
const std::vector<SearchPlace>& search_places() {
    static const std::vector<SearchPlace> all = {
        {"files", {"file"}},
        {"conversations",
         {"text", "thinking", "tool_call", "tool_result", "error", "notification", "task"}},
        {"memory", {"memory"}}};
    return all;
}

// A prefix counts from the working directory, as paths do elsewhere. A slash at the end is kept:
// "src/" is the directory, "src" also src2.
std::string prefix_in_workspace(const Globals& globals, const std::string& prefix) {
    if (prefix.empty()) return prefix;
    std::string path = workspace_path(globals, prefix);
    if (path == ".") path.clear();
    return prefix.ends_with('/') && !path.empty() && !path.ends_with('/') ? path + "/" : path;
}

Value search_arguments_of(const Globals& globals, const SearchOptions& options) {
    List kinds;
    for (const SearchPlace& place : search_places()) {
        const bool is_wanted = options.kinds.empty() ||
                               std::find(options.kinds.begin(), options.kinds.end(), place.word) !=
                                   options.kinds.end();
        if (is_wanted) kinds.insert(kinds.end(), place.kinds.begin(), place.kinds.end());
    }
    Map out{{"query", options.query},        {"mode", options.is_literal ? "literal" : "regex"},
            {"kinds", std::move(kinds)},     {"context_lines", 0},
            {"max_matches_per_block", 1000}, {"max_blocks", options.most_blocks}};
    if (std::string prefix = prefix_in_workspace(globals, options.path_prefix); !prefix.empty())
        out.append("path_prefix", std::move(prefix));
    return out;
}

// How a person names the block in another command.
std::string name_of_block(const Value& block) {
    if (const std::string path = json::text_in(block, "path"); !path.empty()) return path;
    const std::string label = json::text_in(block, "label");
    if (label.empty()) return json::text_in(block, "block_id");
    return cat("memory:", json::text_in(block, "owner"), "/", label);
}

// The line with its match in a colour. Of a line that may have been cut it is not known where the match
// is in what is left. The places of a match count code points.
std::string found_line_of(const Value& match) {
    constexpr std::size_t kSurelyWhole = 1000;
    const std::string content = json::text_in(match, "content");
    if (content.size() > kSurelyWhole) return drawn_text(content);
    const std::string_view before =
        utf8::prefix(content, static_cast<std::size_t>(json::number_in(match, "match_start")));
    const std::string_view upto =
        utf8::prefix(content, static_cast<std::size_t>(json::number_in(match, "match_end")));
    return cat(drawn_text(before), coloured(drawn_text(upto.substr(before.size())), Colour::red),
               drawn_text(std::string_view(content).substr(upto.size())));
}

// A line with several matches is printed once, with the first of them coloured.
std::string found_lines_of(const Value& block) {
    std::string out;
    std::int64_t last = -1;
    for (const Value& match : json::list_in(block, "matches")) {
        const std::int64_t line = json::number_in(match, "line");
        if (std::exchange(last, line) == line) continue;
        out += cat(coloured(text::escape_hidden(name_of_block(block)), Colour::magenta), ":",
                   coloured(cat(line + 1), Colour::green), ":", found_line_of(match), "\n");
    }
    return out;
}

Result<int> run_search(const Globals& globals, const SearchOptions& options) {
    const Value found = TRY(call_once(globals.with_whole_answers(), "kernel_search",
                                      search_arguments_of(globals, options)));
    if (globals.json) return output_json(found);
    std::string text;
    for (const Value& block : json::list_in(found, "blocks")) text += found_lines_of(block);
    const int code = output(text);
    if (text.empty()) complain("nothing matches");
    const Value* const truncated = found.get("truncated");
    if (truncated != nullptr && *truncated == Value(true))
        complain("there is more; narrow the search, or raise --limit");
    return code;
}

void add_search_options(CLI::App& app, SearchOptions& options) {
    app.add_option("query", options.query, "A regular expression (RE2)")
        ->required()
        ->type_name("QUERY");
    app.add_option("path", options.path_prefix, "Only files whose path begins so")
        ->type_name("PREFIX");
    app.add_flag("-F,--literal", options.is_literal, "Take the query as it stands");
    std::vector<std::string> words;
    for (const SearchPlace& place : search_places()) words.emplace_back(place.word);
    app.add_option("--in", options.kinds,
                   "files, conversations or memory; may be given several times (default: all)")
        ->check(CLI::IsMember(words))
        ->allow_extra_args(false)
        ->type_name("PLACE");
    app.add_option("--limit", options.most_blocks, "At most so many files and blocks")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str()
        ->type_name("N");
}

}  // namespace

Command search_command() {
    return {.name = "search",
            .about =
                "Find lines in all files that ignore files do not leave out, in conversations "
                "and in memory",
            .example = "quire search 'open|close' src/",
            .action = action_with(add_search_options, run_search),
            .touches = Touches::looks};
}

}  // namespace quire::cli

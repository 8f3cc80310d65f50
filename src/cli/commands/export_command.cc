// quire export: all memory of an agent, with its history, in one file; or the history of the files, as
// commits of git.
//
// Blocks are asked for one by one, as each may be as long as a message. A block that no import
// could take is left out and named, and the exit code says that the file is not all: a copy that
// looks complete and is not would be worse than none.
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/acting_person.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"
#include "cli/exchange/memory_file.h"
#include "json/json.h"
#include "json/members.h"
#include "memory/timestamp.h"
#include "text/escape_hidden.h"
#include "text/shell_word.h"

namespace quire::cli {
namespace {

struct ExportOptions {
    bool git = false;  // Export the files and no memory.
    std::string ref = "refs/quire/history";
    std::string agent;
    std::string file;
    bool force = false;  // Overwrite a file.
};

struct GatheredMemory {
    MemoryFile file;
    List unreadable;
    std::vector<std::string> too_long;  // Labels of blocks that the file leaves out.
};

// An import could not read a longer block, and a file that cannot be read is no copy.
std::string left_out_message(const Globals& globals, const std::string& label) {
    const Map view{{"operation", "view"}, {"label", label}};
    return cat("the file leaves out '", label, "', which is too long to be exported: with its ",
               "history it is more than an import takes at once (message_bytes in [limits] of ",
               "quire.toml). To print its content without the history: quire call context",
               same_options(globals), " ", text::for_shell(json::write(view)),
               "; a copy of the folder .quire, made while no kernel runs, holds all of it");
}

// A block that was deleted since the list was made is no gap.
Result<GatheredMemory> gather_memory(const Globals& globals, const std::string& agent) {
    GatheredMemory out{{cat("agent:", agent),
                        memory::format_timestamp(SystemClock().wall_ms()),
                        globals.version,
                        {}},
                       {},
                       {}};
    CommandClient client = TRY(CommandClient::attach(globals));
    const Value owned = TRY(client.request("owned", Map{{"owner", out.file.owner}}));
    for (const Value& label : json::list_in(owned, "labels")) {
        auto answer = client.request("export", Map{{"label", label}});
        if (!answer && answer.error().code() == Errc::not_found) continue;  // Deleted meanwhile.
        if (!answer) return Failure(std::move(answer).error());
        const Value* block = answer->get("block");
        if (block == nullptr) return corrupt("the kernel sent a block without its content");
        if (json::write(*block).size() > client.most_in_request()) {
            out.too_long.push_back(json::text_in(*block, "label"));
        } else {
            out.file.blocks.push_back(*block);
        }
    }
    out.unreadable = json::list_in(owned, "unreadable");
    if (!out.file.blocks.empty() || !out.too_long.empty()) return out;
    return fail(Errc::not_found, "no_memory",
                cat(out.file.owner, " owns no memory here; quire memory list lists the blocks"));
}

Result<int> export_files(const Globals& globals, const std::string& ref) {
    const Value answer = TRY(request_once(globals, "export_git", Map{{"ref", ref}}));
    if (globals.json) return output_json(answer);
    std::string out =
        cat(ref, " is now ", json::text_in(answer, "commit"), ": ",
            plural(static_cast<std::size_t>(json::number_in(answer, "commits")), "commit"), " of ",
            plural(json::list_in(answer, "files").size(), "file"), ".\n");
    for (const Value& path : json::list_in(answer, "ignored")) {
        out +=
            cat("left out, because git ignores it: ", text::escape_hidden(path.as_string()), "\n");
    }
    return output(out);
}

// Options that exclude each other are the parser's; that one of the two must be there is checked
// here.
Result<int> run_export(const Globals& globals, const ExportOptions& options) {
    if (const auto person = check_is_person(globals); !person) {
        refuse(globals, person.error());
        return kUsage;
    }
    if (options.git) return export_files(globals, options.ref);
    if (options.agent.empty() || options.file.empty()) {
        complain(
            "name what to export: --agent AGENT FILE for an agent's memory, or --git for the "
            "history of the files");
        return kUsage;
    }
    // An export of yesterday must not be lost to a mistyped name.
    struct stat present = {};
    if (!options.force && ::stat(options.file.c_str(), &present) == 0) {
        return fail(Errc::conflict, "file_exists",
                    cat(options.file, " exists already; name another file, or use --force"),
                    {{"path", options.file}});
    }
    const GatheredMemory gathered = TRY(gather_memory(globals, options.agent));
    const std::string text = write_memory_file(gathered.file);
    // The file is flushed before success is printed. Only the owner may read a new one: memory is
    // private.
    TRY(keep_file(options.file, text));
    std::string left_out;
    for (const Value& each : gathered.unreadable) {
        if (!each.is_string()) continue;
        cat_to(left_out, cat(left_out.empty() ? "" : "\n", "the file leaves out '",
                             each.as_string(), "', which cannot be read, not even who owns it"));
    }
    for (const std::string& label : gathered.too_long)
        cat_to(left_out, cat(left_out.empty() ? "" : "\n", left_out_message(globals, label)));
    const std::size_t count = gathered.file.blocks.size();
    const std::string summary =
        globals.json
            ? json::write(Map{{"file", options.file}, {"blocks", count}, {"bytes", text.size()}})
            : cat("Wrote ", plural(count, "block"), " of ", gathered.file.owner,
                  " with their history to ", options.file, " (", size_text(text.size()), ").");
    const int printed = output(summary + "\n");
    if (left_out.empty()) return printed;
    return fail(Errc::unsupported, "left_out", left_out, {{"file", options.file}});
}

void add_export_options(CLI::App& app, ExportOptions& options) {
    auto* const agent = app.add_option("--agent", options.agent, "The agent whose memory to export")
                            ->type_name("AGENT")
                            ->check(check_agent);
    auto* const file =
        app.add_option("file", options.file, "The file to write")->type_name("FILE")->needs(agent);
    app.add_flag("--force", options.force, "Overwrite an existing file");
    auto* const git = app.add_flag("--git", options.git,
                                   "Commit every version of every file to a new ref of the git "
                                   "repository, each by its actor")
                          ->excludes(agent)
                          ->excludes(file);
    app.add_option("--ref", options.ref, "The ref, below refs/, that --git makes")
        ->type_name("REF")
        ->capture_default_str()
        ->needs(git);
}

}  // namespace

Command export_command() {
    return {
        .name = "export",
        .about =
            "Write all memory that an agent owns, with its history, to one file; or the history "
            "of the files to git",
        .example = "quire export --agent ada ada.memory",
        .action = action_with(add_export_options, run_export),
        .touches = Touches::looks};
}

}  // namespace quire::cli

// quire init: the settings of a workspace, and our entry in the settings of an MCP client.
//
// init never replaces what is there: it writes quire.toml only where there is none, and in a client's
// file only our own entry changes (cli/exchange/client_settings.h). A client's file is shown as a diff
// first, and written when a person agrees or --yes says so.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "base/write_all.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/commands/whole_file.h"
#include "cli/exchange/client_settings.h"
#include "cli/exchange/hook_settings.h"
#include "cli/settings/config.h"
#include "cli/settings/workspace.h"
#include "json/json.h"
#include "text/diff.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct InitOptions {
    std::string client;   // Its name; "" for none.
    bool print = false;   // Print quire.toml instead of the summary.
    bool yes = false;     // Do not ask.
    bool remove = false;  // Take the client's entry back.
    bool no_hooks = false;
};

// A workspace and its settings file.
struct SettledWorkspace {
    std::string directory;
    std::string config;
    bool written = false;  // This command wrote it.
};

// The path of this very file, so that a client starts the version that wrote the entry.
std::string this_program() {
    std::error_code unknown;
    return std::filesystem::read_symlink("/proc/self/exe", unknown).string();
}

Failure cannot_write(const std::string& path, std::string_view why) {
    return fail(Errc::unavailable, "workspace_not_writable", cat("cannot write ", path, ": ", why),
                {{"path", path}});
}

// Writes quire.toml where there is none. O_EXCL makes the question and the creation one step. A
// file that could not be written whole is removed, because half of the rules would allow too much
// or too little.
Result<SettledWorkspace> settled_workspace(const Globals& globals) {
    const std::string directory = std::filesystem::canonical(globals.workspace).string();
    SettledWorkspace place{directory, (std::filesystem::path(directory) / "quire.toml").string()};
    const Fd file(::open(place.config.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file && errno == EEXIST) return place;
    if (!file) return cannot_write(place.config, std::strerror(errno));
    const Result<void> written = write_all(file.get(), default_config());
    if (!written || ::fsync(file.get()) != 0) {
        const std::string why = written ? std::strerror(errno) : written.error().message();
        ::unlink(place.config.c_str());
        return cannot_write(place.config, cat(why, "; the file was removed again"));
    }
    place.written = true;
    return place;
}

// --- the client's file ---

// The change of one file: its text before and after, "" for no file.
struct FileChange {
    std::string_view file;  // From the project's directory.
    std::string path;
    std::string before;
    std::string after;
    bool is_there = false;  // The file exists.
};

// A server finds its workspace from the directory that it is started in, if that walk leads here.
ServerEntry server_entry(const McpClient& client, const std::string& directory) {
    const auto found = find_workspace(directory);
    const bool is_found = found && found->is_there && found->directory == directory;
    ServerEntry entry{this_program(), {"mcp"}};
    if (client.needs_path || !is_found) {
        entry.arguments.emplace_back("--workspace");
        entry.arguments.push_back(directory);
    }
    return entry;
}

// The file is read now and written after the person has agreed.
Result<FileChange> change_of(const std::string& directory, std::string_view file) {
    FileChange change{file, (std::filesystem::path(directory) / file).string(), "", ""};
    std::error_code missing;
    change.is_there = std::filesystem::exists(change.path, missing);
    if (change.is_there) change.before = TRY(read_file(change.path));
    change.after = change.before;
    return change;
}

// Plans the changes of the client's files: our server, and our hooks if the client has hooks. Removing
// skips a file without our entries. Errors: those of without_server() if no file has any.
Result<std::vector<FileChange>> planned_changes(const InitOptions& options,
                                                const std::string& directory) {
    const McpClient& client = *find_client(options.client);
    const std::string_view file = options.no_hooks ? "" : hooks_file(client.name);
    std::vector<FileChange> out = {TRY(change_of(directory, client.file))};
    if (!file.empty() && file != client.file) out.push_back(TRY(change_of(directory, file)));
    FileChange& server = out.front();
    // Servers and hooks may be in one file; then both names mean the same change.
    FileChange& hooks = out.back();
    Result<std::string> after =
        options.remove ? without_server(client, server.before)
                       : with_server(client, server.before, server_entry(client, directory));
    if (after) server.after = *after;
    if (!file.empty() && !options.remove)
        hooks.after = TRY(with_hooks(client.name, hooks.after, this_program()));
    if (!file.empty() && options.remove && !hooks.after.empty())
        hooks.after = TRY(without_hooks(client.name, hooks.after));
    const bool is_missing =
        !after && after.error().reason() == "no_entry" && hooks.before != hooks.after;
    if (!after && !is_missing) return Failure(std::move(after).error());
    return out;
}

std::string diff_of(const FileChange& change) {
    const std::string name(change.file);
    return text::unified_diff(change.before, change.after,
                              {.from = change.is_there ? name : "/dev/null",
                               .to = change.after.empty() ? "/dev/null" : name});
}

// Other programs' files are shown, so that every character that cannot be seen is written out.
std::string drawn_diff(const std::string& diff) {
    std::string out;
    for (const std::string_view line : text::split_lines(diff)) {
        const std::string drawn =
            text::escape_hidden(line.substr(0, line.find_last_not_of('\n') + 1));
        cat_to(out, cat(line.starts_with('+')   ? coloured(drawn, Colour::green)
                        : line.starts_with('-') ? coloured(drawn, Colour::red)
                                                : drawn,
                        "\n"));
    }
    return out;
}

Result<void> make_directory_of(const FileChange& change) {
    const std::filesystem::path directory = std::filesystem::path(change.path).parent_path();
    std::error_code failed;
    if (!change.after.empty()) std::filesystem::create_directories(directory, failed);
    if (failed) return cannot_write(directory.string(), failed.message());
    return {};
}

Result<void> write_change(const FileChange& change) {
    const std::filesystem::path path(change.path);
    std::error_code failed;
    if (!change.after.empty()) return replace_file(change.path, change.after);
    std::filesystem::remove(path, failed);
    if (failed) return cannot_write(change.path, failed.message());
    // A directory that was made for the file goes with it; one that holds more stays.
    if (change.file.find('/') != std::string_view::npos) ::rmdir(path.parent_path().c_str());
    return {};
}

bool changes_something(const FileChange& change) {
    return change.before != change.after;
}

// The names of the changed files, or of all files, as "a and b".
std::string names_of(const std::vector<FileChange>& changes, bool changed_only) {
    std::string out;
    for (const FileChange& change : changes) {
        if (!changed_only || changes_something(change))
            cat_to(out, cat(out.empty() ? "" : " and ", change.file));
    }
    return out;
}

std::string diff_of(const std::vector<FileChange>& changes) {
    std::string out;
    for (const FileChange& change : changes) {
        if (changes_something(change)) out += diff_of(change);
    }
    return out;
}

// Shows the changes, and writes them if the person agrees. Returns true if a file was written.
Result<bool> make_changes(const Globals& globals, const InitOptions& options,
                          const std::vector<FileChange>& changes) {
    const std::string names = names_of(changes, true);
    if (names.empty()) return false;
    const Map details{{"path", changes.front().path}, {"diff", diff_of(changes)}};
    if (!globals.json) print(drawn_diff(diff_of(changes)));
    if (!options.yes && !can_ask()) {
        return fail(Errc::invalid_argument, "not_confirmed",
                    cat(names,
                        " was not changed: nobody can be asked here. To make "
                        "this change without a question, add --yes"),
                    details);
    }
    if (!options.yes && !ask(cat(options.remove ? "Take this back from " : "Write ", names, "?"))) {
        return fail(Errc::invalid_argument, "not_confirmed", cat(names, " was not changed"),
                    details);
    }
    // All directories first: a failure then leaves every file as it was.
    for (const FileChange& change : changes) TRY(make_directory_of(change));
    for (const FileChange& change : changes) {
        if (changes_something(change)) TRY(write_change(change));
    }
    return true;
}

Result<int> change_client(const Globals& globals, const InitOptions& options,
                          const std::string& directory, Map facts) {
    const std::vector<FileChange> changes = TRY(planned_changes(options, directory));
    const bool written = TRY(make_changes(globals, options, changes));
    const McpClient& client = *find_client(options.client);
    const std::string names = names_of(changes, written);
    if (globals.json) {
        List paths;
        for (const FileChange& change : changes) paths.emplace_back(change.path);
        facts.append("client", client.name);
        facts.append("file", changes.front().path);
        facts.append("files", std::move(paths));
        facts.append("changed", written);
        facts.append("diff", diff_of(changes));
        return output_json(facts);
    }
    if (!written) return output(cat(names, " has the entry already; nothing was changed.\n"));
    if (options.remove) return output(cat("Took the entry quire back out of ", names, ".\n"));
    return output(cat("Wrote ", names, ". Next: ", client.then, ".\n"));
}

// --- without a client ---

// The entry for quire in the settings file of any MCP client.
Map client_settings(const std::string& directory) {
    return {{"mcpServers", Map{{"quire", Map{{"command", this_program()},
                                             {"args", List{"mcp", "--workspace", directory}}}}}}};
}

std::string summary(const SettledWorkspace& place) {
    const std::string what =
        place.written
            ? cat(coloured(cat("Wrote ", place.config), Colour::green),
                  ".\n  Agents may edit sources, tests and documents; deleting asks you first.\n"
                  "  Files with secrets are read-only, and so is all that no rule names.\n"
                  "  An edit by an agent is in the file when it is answered (save = "
                  "\"on_commit\").\n")
            : cat(place.config, " is there and was left as it is.\n");
    return cat(
        what,
        "\nNext steps:\n"
        "  quire init --print            print the rules, to change them in an editor\n"
        "  quire init --agent claude     let Claude Code use the workspace (or codex, cursor,\n"
        "                                gemini, vscode); shows the change and asks first\n"
        "  quire doctor                  check that everything works\n"
        "  quire log                     see who did what\n"
        "\nAny other MCP client, in its settings file:\n  ",
        json::write(client_settings(place.directory)), "\n");
}

Result<int> run_init(const Globals& globals, const InitOptions& options) {
    if (options.remove) {
        const std::string directory = std::filesystem::canonical(globals.workspace).string();
        return change_client(globals, options, directory, {{"workspace", directory}});
    }
    const SettledWorkspace place = TRY(settled_workspace(globals));
    Map facts{{"workspace", place.directory}, {"config", place.config}, {"written", place.written}};
    if (!options.client.empty()) {
        if (!globals.json && place.written) print(cat("Wrote ", place.config, ".\n"));
        return change_client(globals, options, place.directory, std::move(facts));
    }
    if (options.print) return output(TRY(read_file(place.config)));
    if (!globals.json) return output(summary(place));
    for (Map::Entry& each : client_settings(place.directory))
        facts.append(each.key, std::move(each.value));
    return output_json(facts);
}

void add_init_options(CLI::App& app, InitOptions& options) {
    std::vector<std::string> names;
    for (const McpClient& client : mcp_clients()) names.emplace_back(client.name);
    CLI::Option* const agent = app.add_option(
        "--agent", options.client,
        "Also write the settings with which this agent's program uses the workspace; the change "
        "is shown, and made when you agree");
    agent->check(CLI::IsMember(names))->type_name("CLIENT");
    app.add_flag("--yes", options.yes, "Write the agent's settings without asking")->needs(agent);
    app.add_flag("--remove", options.remove, "Take back what --agent wrote, and nothing else")
        ->needs(agent);
    app.add_flag("--no-hooks", options.no_hooks,
                 "Leave the agent's hooks alone: its own editor and shell are not asked about")
        ->needs(agent);
    app.add_flag("--print", options.print, "Print quire.toml instead of the summary")
        ->excludes(agent);
}

}  // namespace

Command init_command() {
    return {.name = "init",
            .about =
                "Write a commented quire.toml with sensible rules where there is none, and "
                "say how to go on",
            .example = "quire init --agent claude --yes",
            .action = action_with(add_init_options, run_init)};
}

}  // namespace quire::cli

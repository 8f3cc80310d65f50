// quire mounts: the tools of mounted MCP servers, which of them are approved, and what changed.
//
// A server's words are a stranger's: they are escaped, and indented so that no line of them looks
// like one of ours.
#include <algorithm>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/acting_person.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/settings/config.h"
#include "json/json.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct MountOptions {
    std::string name;
    std::string offer;  // For approve: the digest of a list of tools, as show prints it.
};

// "3 tools, 1 left out, 2 unapproved changes". Counts of the tools that are approved, of those that
// cannot be listed, and of what waits for approval.
std::string mount_counts(const Value& row) {
    const std::size_t tools = json::list_in(row, "tools").size();
    const std::size_t left_out = json::list_in(row, "left_out").size();
    const std::size_t changes = json::list_in(row, "changes").size();
    std::string out = cat(tools, tools == 1 ? " tool" : " tools");
    if (left_out > 0) cat_to(out, cat(", ", left_out, " left out"));
    if (changes > 0) {
        cat_to(out, coloured(cat(", ", changes,
                                 changes == 1 ? " unapproved change" : " unapproved changes"),
                             Colour::yellow));
    }
    return out;
}

// A member that holds words of the server's, on one line and with nothing hidden.
std::string drawn(const Value& row, std::string_view member) {
    return text::escape_hidden(json::text_in(row, member));
}

std::string indented(std::string_view text, std::string_view before) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        cat_to(out, cat(before, text::escape_hidden(text.substr(at, end - at)), "\n"));
        at = end + 1;
    }
    return out;
}

std::string shown_definition(const Value& definition) {
    return indented(json::write_pretty(definition), "        ");
}

std::string mount_line(const Value& row) {
    std::string out =
        cat(coloured(json::text_in(row, "name"), Colour::cyan), "  ", json::text_in(row, "state"),
            "  ", mount_counts(row), "  ", drawn(row, "command"), "\n");
    if (const std::string failed = json::text_in(row, "failed"); !failed.empty())
        cat_to(out, indented(failed, "    | "));
    return out;
}

// A change is shown with both definitions whole: an approval should be of what was read.
std::string mount_text(const Value& row) {
    std::string out = mount_line(row);
    for (const Value& tool : json::list_in(row, "tools")) {
        const Value* const listed = tool.get("listed");
        cat_to(out, cat("  ", drawn(tool, "name"),
                        listed != nullptr && *listed == Value(true)
                            ? ""
                            : "  (not listed since the kernel started)",
                        "\n"));
    }
    for (const Value& each : json::list_in(row, "left_out")) {
        cat_to(out, cat("  ", coloured("left out", Colour::yellow), " ", drawn(each, "tool"), ": ",
                        drawn(each, "why"), "\n"));
    }
    for (const Value& each : json::list_in(row, "changes")) {
        const std::string what = drawn(each, "what");
        cat_to(out, cat("  ", coloured(drawn(each, "change"), Colour::yellow), " ",
                        drawn(each, "tool"), what.empty() ? "" : ": ", what, "\n"));
        if (const Value* before = each.get("before"))
            cat_to(out, cat("      approved:\n", shown_definition(*before)));
        if (const Value* now = each.get("now"))
            cat_to(out, cat("      now:\n", shown_definition(*now)));
    }
    if (!json::list_in(row, "changes").empty()) {
        cat_to(out, cat("  to approve this as a person: quire mounts approve ",
                        json::text_in(row, "name"), " ", json::text_in(row, "offer"), "\n"));
    }
    return out;
}

// The reason for an empty list. A kernel has to have run before there is more to say. A look starts
// no server, so a mount that was never run shows nothing.
std::string no_mounts(const Settings& settings) {
    if (settings.mounts.empty())
        return "no server is mounted here; [tools.mount.NAME] in quire.toml mounts one";
    return cat("nothing was asked of ", settings.mounts.begin()->first, " yet: quire mounts check ",
               settings.mounts.begin()->first, " runs it");
}

Result<int> list_mounts(const Globals& globals) {
    const Value answer = TRY(request_once(globals, "mounts"));
    if (globals.json) return output_json(answer);
    const List rows = json::list_in(answer, "mounts");
    if (rows.empty()) complain(no_mounts(TRY(load_config(globals.workspace))));
    std::string out;
    for (const Value& row : rows) out += mount_line(row);
    return output(out);
}

int print_mount(const Globals& globals, const Value& row) {
    return globals.json ? output_json(row) : output(mount_text(row));
}

Result<int> show_mount(const Globals& globals, const MountOptions& options) {
    return print_mount(globals, TRY(request_once(globals, "mount", {{"name", options.name}})));
}

Result<int> check_mount(const Globals& globals, const MountOptions& options) {
    return print_mount(globals,
                       TRY(request_once(globals, "check_mount", {{"name", options.name}})));
}

// The digest is that of the list that the person has seen. If the server lists other tools by now,
// the kernel refuses. The error is then "outdated".
Result<int> approve_mount(const Globals& globals, const MountOptions& options) {
    auto row =
        request_once(globals, "approve_mount", {{"name", options.name}, {"offer", options.offer}});
    if (row) return print_mount(globals, *row);
    return Failure(with_person_hint(globals, std::move(row).error()));
}

void add_mount_name(CLI::App& app, MountOptions& options) {
    app.add_option("name", options.name, "The mount's name, as quire mounts prints it")
        ->required()
        ->type_name("MOUNT");
}

void add_mount_approve_options(CLI::App& app, MountOptions& options) {
    add_mount_name(app, options);
    app.add_option("offer", options.offer,
                   "The digest of the tools to approve, as quire mounts show prints it")
        ->required()
        ->type_name("DIGEST");
}

}  // namespace

Command mounts_command() {
    return {
        .name = "mounts",
        .about =
            "List the tools of mounted MCP servers ([tools.mount.NAME] in quire.toml), "
            "and approve changes in them",
        .example = "quire mounts show fs",
        .action = action_of(list_mounts),
        .subcommands = {{.name = "list",
                         .about = "Print each server with its state; the default",
                         .example = "quire mounts list --json",
                         .action = action_of(list_mounts),
                         .touches = Touches::looks},
                        {.name = "show",
                         .about = "Print a server's tools, and each change before and after",
                         .example = "quire mounts show fs",
                         .action = action_with(add_mount_name, show_mount),
                         .touches = Touches::looks},
                        {.name = "check",
                         .about = "Ask a server for its tools now; the first answer is approved "
                                  "automatically",
                         .example = "quire mounts check fs",
                         .action = action_with(add_mount_name, check_mount)},
                        {.name = "approve",
                         .about = "Approve the server's current tools (people only)",
                         .example = "quire mounts approve fs 3f9a0c417be25d86",
                         .action = action_with(add_mount_approve_options, approve_mount)}},
        .touches = Touches::looks};
}

}  // namespace quire::cli

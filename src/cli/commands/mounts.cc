// quire mounts: other programs' tools, what of them is approved, and what is not.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/exchange/members.h"
#include "json/json.h"
#include "policy/actor.h"
#include "text/shown.h"

namespace quire::cli {
namespace {

Result<Value> asked(const Globals& globals, std::string_view method, Map params) {
    CommandClient client = TRY(CommandClient::attach(globals));
    return client.request(method, std::move(params));
}

// "3 tools, 1 left out, 2 changes that nobody approved".
std::string counts_of(const Value& row) {
    const std::size_t tools = list_of(row, "tools").size();
    const std::size_t left_out = list_of(row, "left_out").size();
    const std::size_t changes = list_of(row, "changes").size();
    std::string out = cat(tools, tools == 1 ? " tool" : " tools");
    if (left_out > 0) cat_to(out, cat(", ", left_out, " left out"));
    if (changes > 0) {
        cat_to(out, coloured(cat(", ", changes, changes == 1 ? " change" : " changes",
                                 " that nobody approved"),
                             Colour::yellow));
    }
    return out;
}

// What a stranger chose the words of, so that none of it looks like a line of ours.
std::string indented(std::string_view text, std::string_view before) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        cat_to(out, cat(before, text::shown(text.substr(at, end - at)), "\n"));
        at = end + 1;
    }
    return out;
}

std::string shown_definition(const Value& definition) {
    return indented(json::write_pretty(definition), "        ");
}

std::string line_of_mount(const Value& row) {
    std::string out = cat(coloured(text_of(row, "name"), Colour::cyan), "  ", text_of(row, "state"),
                          "  ", counts_of(row), "  ", text::shown(text_of(row, "command")), "\n");
    if (const std::string failed = text_of(row, "failed"); !failed.empty())
        cat_to(out, indented(failed, "    | "));
    return out;
}

std::string whole_mount(const Value& row) {
    std::string out = line_of_mount(row);
    for (const Value& tool : list_of(row, "tools")) {
        const Value* const listed = tool.get("listed");
        cat_to(out, cat("  ", text_of(tool, "name"),
                        listed != nullptr && *listed == Value(true)
                            ? ""
                            : "  (not listed in this run of the kernel)",
                        "\n"));
    }
    for (const Value& each : list_of(row, "left_out")) {
        cat_to(out, cat("  ", coloured("left out", Colour::yellow), " ", text_of(each, "tool"),
                        ": ", text::shown(text_of(each, "why")), "\n"));
    }
    for (const Value& each : list_of(row, "changes")) {
        const std::string what = text_of(each, "what");
        cat_to(out, cat("  ", coloured(text_of(each, "change"), Colour::yellow), " ",
                        text_of(each, "tool"), what.empty() ? "" : ": ", what, "\n"));
        if (const Value* before = each.get("before"))
            cat_to(out, cat("      approved:\n", shown_definition(*before)));
        if (const Value* now = each.get("now"))
            cat_to(out, cat("      now:\n", shown_definition(*now)));
    }
    if (!list_of(row, "changes").empty()) {
        cat_to(out, cat("  a person takes this with: quire mounts approve ", text_of(row, "name"),
                        " ", text_of(row, "offer"), " --actor human:NAME\n"));
    }
    return out;
}

int print_row(const Globals& globals, const Result<Value>& row) {
    if (!row) return refuse(row.error());
    const std::string text = globals.json ? json::write(*row) + "\n" : whole_mount(*row);
    return print(text) ? kDone : kRefused;
}

}  // namespace

int list_mounts(const Globals& globals) {
    const auto answer = asked(globals, "mounts", {});
    if (!answer) return refuse(answer.error());
    if (globals.json) return print(json::write(*answer) + "\n") ? kDone : kRefused;
    const List rows = list_of(*answer, "mounts");
    if (rows.empty()) {
        complain("nothing is mounted here; [tools.mount.NAME] in quire.toml mounts a server");
        return kDone;
    }
    std::string out;
    for (const Value& row : rows) out += line_of_mount(row);
    return print(out) ? kDone : kRefused;
}

int show_mount(const Globals& globals, const MountCommandOptions& options) {
    return print_row(globals, asked(globals, "mount", {{"name", options.name}}));
}

int check_mount(const Globals& globals, const MountCommandOptions& options) {
    return print_row(globals, asked(globals, "check_mount", {{"name", options.name}}));
}

int approve_mount(const Globals& globals, const MountCommandOptions& options) {
    const auto row =
        asked(globals, "approve_mount", {{"name", options.name}, {"offer", options.offer}});
    const int code = print_row(globals, row);
    const auto actor = policy::Actor::parse(globals.actor);
    if (!row && actor && actor->kind != policy::ActorKind::human)
        complain("say who you are with --actor human:NAME, or in QUIRE_ACTOR");
    return code;
}

}  // namespace quire::cli

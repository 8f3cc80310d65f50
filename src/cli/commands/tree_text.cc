// land and refresh have the same answer, a row for each tree, and the same words for it. A tree
// that failed does not stop the others; the exit code is the worst of all.
#include "cli/commands/tree_text.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/terminal.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

using kernel::SyncOutcome;

// A tree in conflict may still have brought the files that were not.
std::string title_of(const server::SyncedRow& row, bool lands) {
    const std::string tree = text::escape_hidden(row.tree);
    const std::string count = plural(row.files.size(), "file");
    switch (row.outcome) {
        case SyncOutcome::busy:
            return cat(tree, ": files are being written, so nothing was changed. Try it again\n");
        case SyncOutcome::asked:
        case SyncOutcome::refused: {
            const std::string why = row.error ? json::text_in(*row.error, "message") : "refused";
            return cat(tree, ": ", text::escape_hidden(why), "\n");
        }
        case SyncOutcome::done:
        case SyncOutcome::conflict:
            break;
    }
    if (row.files.empty()) {
        return cat(lands ? "Nothing to land from " : "Nothing to refresh in ", tree,
                   row.conflicts.empty() ? "" : " but what is in conflict", "\n");
    }
    return lands ? cat("Landed ", count, " of ", row.actor, " from ", tree, ":\n")
                 : cat("Refreshed ", count, " in ", tree, ":\n");
}

// Below the title: what came, what is in conflict, what was left alone, what a rule forbids, whom
// to ask.
std::string synced_text(const server::SyncedRow& row, bool lands) {
    std::string out = title_of(row, lands);
    for (const server::SyncedFileRow& file : row.files)
        cat_to(out, cat("  ", padded(file.change_type, 9), text::escape_hidden(file.path), "\n"));
    for (const server::TreeConflictRow& conflict : row.conflicts) out += conflict_text(conflict);
    for (const server::TreeLeftRow& left : row.left) {
        cat_to(out, cat("  ", coloured("left", Colour::yellow), " ", text::escape_hidden(left.path),
                        ": ", text::escape_hidden(left.why), "\n"));
    }
    for (const server::ViolationRow& each : row.violations) {
        cat_to(out,
               cat("  ", coloured("forbidden", Colour::red), " ", text::escape_hidden(each.path),
                   ": ", text::escape_hidden(each.reason), "\n"));
    }
    for (const std::string& id : row.approval_ids)
        cat_to(out, cat("  a person is asked: quire approvals approve ", id, "\n"));
    for (const std::string& note : row.notes)
        cat_to(out, cat("  ", text::escape_hidden(note), "\n"));
    return out;
}

// The worst of all trees decides. A refusal outweighs files that are busy, and those a conflict.
int exit_code_of(const server::SyncedRows& rows) {
    int code = kDone;
    const auto any = [&](SyncOutcome outcome) {
        return std::ranges::any_of(
            rows.trees, [&](const server::SyncedRow& row) { return row.outcome == outcome; });
    };
    if (any(SyncOutcome::conflict)) code = kConflictLeft;
    if (any(SyncOutcome::busy)) code = kBusy;
    if (any(SyncOutcome::asked) || any(SyncOutcome::refused)) code = kRefused;
    return code;
}

// The first line of one side, to recognise it by; the whole sides are in --json.
std::string quoted_side(std::string_view text) {
    constexpr std::size_t kShown = 60;
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool is_cut = line.size() < text.size() && text.size() > line.size() + 1;
    std::string shown = text::escape_hidden(line.substr(0, kShown));
    return cat("\"", shown, "\"", is_cut || line.size() > kShown ? " …" : "");
}

Result<int> sync_trees(const Globals& globals, std::string_view method,
                       const std::optional<std::string>& typed) {
    // The kernel finds the adopted tree around the working directory, since it knows all of them.
    Map params{{"around", typed_directory(".")}};
    if (typed) params.set("directory", typed_directory(*typed));
    const Value answer = TRY(request_once(globals, method, std::move(params)));
    const auto rows = json::read<server::SyncedRows>(answer);
    if (!rows) return fail(Errc::corrupt, "corrupt", "the kernel's answer makes no sense");
    const int code = exit_code_of(*rows);
    if (globals.json) {
        output_json(answer);
        return code;
    }
    const bool lands = method == "land";
    std::string out;
    for (const server::SyncedRow& row : rows->trees) out += synced_text(row, lands);
    if (rows->trees.empty())
        out = lands ? "No adopted tree has anything to land.\n"
                    : "Every adopted tree is up to date.\n";
    if (!print(out)) return kRefused;
    return code;
}

}  // namespace

CommandAction sync_action(std::string_view method, std::string_view waits) {
    return [method, waits](CLI::App& app) -> CommandRun {
        const auto typed = std::make_shared<std::optional<std::string>>();
        app.add_option(
               "directory", *typed,
               cat("The adopted tree; absent: the one around the working directory, or every "
                   "tree that ",
                   waits))
            ->type_name("DIR");
        return
            [method, typed](const Globals& globals) { return sync_trees(globals, method, *typed); };
    };
}

// It goes by names alone: a tree's directory may be gone when it is dropped.
std::string typed_directory(const std::string& typed) {
    std::error_code failed;
    const auto absolute = std::filesystem::absolute(typed, failed);
    return failed ? typed : absolute.lexically_normal().string();
}

std::string conflict_text(const server::TreeConflictRow& row) {
    const bool is_lines = row.kind == quire::files::ConflictKind::lines;
    return cat("  ", coloured("conflict", Colour::yellow), " ", text::escape_hidden(row.path),
               is_lines ? cat(":", row.start + 1) : std::string(),
               row.kind == quire::files::ConflictKind::whole      ? " (the whole file)"
               : row.kind == quire::files::ConflictKind::deletion ? " (deleted on one side)"
                                                                  : "",
               ": the tree has ", quoted_side(row.theirs), ", the workspace ",
               quoted_side(row.shared), "\n");
}

// A unit is used from two of it on: an hour is shown as 60 minutes.
std::string age_words(std::int64_t seconds) {
    if (seconds < 120)
        return plural(static_cast<std::size_t>(std::max<std::int64_t>(seconds, 0)), "second");
    if (seconds < 2 * 3600) return plural(static_cast<std::size_t>(seconds / 60), "minute");
    if (seconds < 2 * 86400) return plural(static_cast<std::size_t>(seconds / 3600), "hour");
    return plural(static_cast<std::size_t>(seconds / 86400), "day");
}

}  // namespace quire::cli

// Conflicts and their settling, as members and as text. A list of conflicts shows both sides whole:
// a model settles them from this answer alone. The text looks like a diff that a reader knows, with
// '+' for the document's side and '-' for the disk's, and ends with the call that settles them.
#include "tools/file_conflicts.h"

#include <utility>

#include "base/concat.h"
#include "edits/numbering.h"
#include "kernel/files/file_source.h"
#include "text/escape_hidden.h"
#include "text/utc_time.h"
#include "tools/file_fields.h"
#include "tools/render.h"

namespace quire::tools {
namespace {

struct ShownConflict {
    std::string conflict_id;
    std::string path;
    std::size_t start = 0;
    std::size_t end = 0;
    std::string base;
    std::string agent;
    std::string disk;
    std::string actor;
    std::string since;
    static Fields<ShownConflict> fields() {
        return Fields<ShownConflict>()
            .required("conflict_id", &ShownConflict::conflict_id)
            .required("path", &ShownConflict::path)
            .required("start", &ShownConflict::start)
            .required("end", &ShownConflict::end)
            .required("base", &ShownConflict::base)
            .kept()
            .required("agent", &ShownConflict::agent)
            .kept()
            .required("disk", &ShownConflict::disk)
            .kept()
            .required("actor", &ShownConflict::actor)
            .required("since", &ShownConflict::since);
    }
};
struct ShownConflicts {
    std::vector<ShownConflict> conflicts;
    static Fields<ShownConflicts> fields() {
        return Fields<ShownConflicts>().required("conflicts", &ShownConflicts::conflicts).kept();
    }
};

struct ShownReconciled {
    std::string path;
    std::string block_id;
    kernel::ReconcileResult result = kernel::ReconcileResult::no_change;
    std::optional<kernel::Resolution> resolution;
    std::optional<kernel::DiskChange> change_type;
    std::optional<std::string> from;
    std::optional<std::uint64_t> final_version;
    std::string disk_changes;
    std::string agent_changes;
    static Fields<ShownReconciled> fields() {
        return Fields<ShownReconciled>()
            .required("path", &ShownReconciled::path)
            .required("block_id", &ShownReconciled::block_id)
            .required("result", &ShownReconciled::result)
            .kept()
            .optional("resolution", &ShownReconciled::resolution)
            .optional("change_type", &ShownReconciled::change_type)
            .optional("from", &ShownReconciled::from)
            .optional("final_version", &ShownReconciled::final_version)
            .optional("disk_changes", &ShownReconciled::disk_changes)
            .optional("agent_changes", &ShownReconciled::agent_changes);
    }
};
struct ShownResults {
    std::vector<ShownReconciled> results;
    static Fields<ShownResults> fields() {
        return Fields<ShownResults>().required("results", &ShownResults::results).kept();
    }
};

// Each line of a side after a mark, as in a diff.
std::string marked(char mark, std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        cat_to(out, cat(std::string(1, mark), text::escape_hidden(line), "\n"));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return out;
}

std::string title_of(const kernel::FileConflict& conflict, edits::Numbering numbering) {
    std::string_view what;
    switch (conflict.kind) {
        case files::ConflictKind::lines:
            return cat(conflict.conflict_id, " ", conflict.path, " ",
                       edits::in_words(numbering, conflict.lines));
        case files::ConflictKind::whole:
            what = "the whole file";
            break;
        case files::ConflictKind::deletion:
            what = "deleted on disk";
            break;
    }
    return cat(conflict.conflict_id, " ", conflict.path, " ", what);
}

ToolResult render_conflicts(const std::vector<kernel::FileConflict>& all,
                            edits::Numbering numbering) {
    ShownConflicts out;
    std::string text = all.empty() ? "No conflict is open.\n" : "";
    for (const kernel::FileConflict& conflict : all) {
        // Line numbers are those of the profile: the end that is excluded, counted from 0, is the
        // included one, counted from 1.
        ShownConflict shown{
            conflict.conflict_id, conflict.path,  0,
            conflict.lines.end.n, conflict.base,  conflict.agent,
            conflict.disk,        conflict.actor, text::utc_time(conflict.since_ms)};
        shown.start = edits::shown(numbering, conflict.lines.begin);
        cat_to(text, cat(title_of(conflict, numbering), ", since ", shown.since,
                         conflict.actor.empty() ? "" : cat(", edited by ", conflict.actor),
                         "\nbase:\n", marked(' ', conflict.base),
                         "in the document (choice agent):\n", marked('+', conflict.agent),
                         "on disk (choice disk):\n", marked('-', conflict.disk)));
        out.conflicts.push_back(std::move(shown));
    }
    if (!all.empty())
        text += "Settle them with file resolve: choice agent, disk, merge, or text with content.\n";
    return result_of(out, std::move(text));
}

ToolResult render_reconciled(std::vector<kernel::FileReconciled> all) {
    ShownResults out;
    std::string text = all.empty() ? "Nothing changed on disk, and no conflict is open.\n" : "";
    for (kernel::FileReconciled& one : all) {
        cat_to(text, cat(one.path, ": ", name_of(one.result),
                         one.resolution ? cat(", ", name_of(*one.resolution)) : std::string(),
                         one.change_type ? cat(", ", name_of(*one.change_type), " on disk")
                                         : std::string(),
                         "\n"));
        if (one.result == kernel::ReconcileResult::needs_resolution)
            text += "  file conflicts shows both sides, file resolve settles them.\n";
        out.results.push_back({std::move(one.path), std::move(one.block_id), one.result,
                               one.resolution, one.change_type, std::move(one.from),
                               one.final_version, std::move(one.disk_changes),
                               std::move(one.agent_changes)});
    }
    return result_of(out, std::move(text));
}

}  // namespace

void show_file_conflicts(kernel::FileCalls& files, OperationCall call,
                         std::optional<std::string> path) {
    files.conflicts(
        call.by(), std::move(path),
        answer_with(std::move(call.reply), [numbering = numbering_of(call.session.profile)](
                                               const std::vector<kernel::FileConflict>& all) {
            return render_conflicts(all, numbering);
        }));
}

void resolve_file_conflicts(kernel::FileCalls& files, OperationCall call,
                            kernel::FileResolve what) {
    files.resolve(call.by(), std::move(what),
                  answer_with(std::move(call.reply), [profile = call.session.profile](
                                                         const kernel::FileResolved& resolved) {
                      auto [change, text] = render_edited(resolved.edited, profile);
                      using Answer = About<kernel::FileVersion, EditAnswer>;
                      return result_of(Answer{resolved.file, std::move(change)}, std::move(text));
                  }));
}

void reconcile_files(kernel::FileCalls& files, kernel::DiskWatch& watch, OperationCall call,
                     std::optional<std::vector<std::string>> paths) {
    Reply<std::vector<kernel::FileReconciled>> reply =
        answer_with(std::move(call.reply), render_reconciled);
    if (paths) return files.reconcile(call.by(), std::move(*paths), std::move(reply));
    kernel::reconcile_disk(watch, files, call.by(), std::move(reply));
}

Map file_conflicts_answer() {
    return json::Codec<ShownConflicts>::schema();
}
Map reconciled_answer() {
    return json::Codec<ShownResults>::schema();
}

}  // namespace quire::tools

// Only the blame of its document tells who wrote a line, and that costs a replay of the history. So
// the deletions are counted twice: first all of them, whoever wrote them, which needs only the
// diffs; and only if those pass a bound, without the lines that the tree's own actor wrote.
#include "kernel/views/tree_consent.h"

#include <algorithm>
#include <future>

#include "base/concat.h"
#include "kernel/commands/call_approval.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "text/diff.h"

namespace quire::kernel {

// A word stands before the digest, so that an approval of a land is not taken for one of its
// deletions: a person may be asked for both about one set of changes.
Result<void> TreeConsent::to_land(std::size_t files, const std::string& effects) const {
    policy::Target target;
    target.kind = "tree";
    target.name = tree_.directory;
    return require_approval(
        kernel_, by_, cat("lands ", effects), target, policy::Operation::overwrite, [&] {
            return Error(Errc::escalation_required, "escalation_required",
                         cat("nothing was landed: ", files,
                             " changes wait for a person's approval, as [views] land says"),
                         {{"operation", name_of(policy::Operation::overwrite)},
                          {"permission", name_of(policy::Permission::human)},
                          {"tree", tree_.directory},
                          {"files", files}});
        });
}

// The lines that the plan takes out of a file, or those of them that others wrote. Where nobody knows who
// wrote them it was somebody else.
std::size_t TreeConsent::deleted_lines(const PlannedFile& file, bool of_others) const {
    const std::string& before = file.into->bytes;
    const std::vector<text::Hunk> hunks = text::diff_lines(before, file.bytes.value_or(""));
    std::size_t all = 0;
    for (const text::Hunk& hunk : hunks) all += hunk.before.end.n - hunk.before.begin.n;
    if (!of_others) return all;
    const auto document = kernel_.core()->catalog().find(Name{kFileKind, file.path});
    if (document == nullptr || all == 0) return all;
    // The system asks, so that the count does not depend on what the tree's actor may read.
    const Caller asker{{policy::ActorKind::system, "land"}, 0, {}};
    std::promise<Result<Blame>> told;
    kernel_.blame(asker, conversation::BlockId{document->key(), -1, 0}.str(),
                  [&](Result<Blame> blame) { told.set_value(std::move(blame)); });
    const Result<Blame> blame = told.get_future().get();
    // The stretches are lines of the document's text, so they fit only bytes that are the same: a
    // text in another encoding counts as others' work as a whole. So does, mostly, the tree's file
    // in a refresh, which differs from the workspace's.
    if (!blame || blame->text != before) return all;
    const std::string own = tree_.actor.str();
    for (const text::Hunk& hunk : hunks) {
        for (const Blame::Stretch& stretch : blame->stretches) {
            if (stretch.entry.actor != own) continue;
            const std::size_t begin = std::max(hunk.before.begin.n, stretch.begin);
            const std::size_t end = std::min(hunk.before.end.n, stretch.end);
            if (begin < end) all -= end - begin;
        }
    }
    return all;
}

Result<void> TreeConsent::to_deletions(const TreePlan& plan, const std::string& effects,
                                       Synced& out) const {
    std::size_t files = 0, lines = 0;
    // Authors are asked for only where there are too many lines.
    for (const bool is_exact : {false, true}) {
        files = lines = 0;
        for (const PlannedFile& file : plan.files()) {
            // A new file, a link and a change of permissions take no lines away from anybody.
            if (!file.into || file.into->form == views::Form::link || !file.writes()) continue;
            // A file with a zero byte has no lines to count: replacing it is not counted, deleting
            // it is.
            const bool is_text = file.into->bytes.find('\0') == std::string::npos;
            const std::size_t gone = !is_text ? 0 : deleted_lines(file, is_exact);
            // A deleted file counts unless the exact count finds that the actor wrote every line in
            // it. An empty file, which has no lines, counts in the first round alone.
            if (!file.bytes && (gone > 0 || !is_text || !is_exact)) ++files;
            lines += gone;
        }
        if (files <= kMostDeletedFiles && lines <= kMostDeletedLines) return {};
    }
    out.deleted_files = files;
    out.deleted_lines = lines;
    policy::Target target;
    target.kind = "tree";
    target.name = tree_.directory;
    return require_approval(
        kernel_, by_, cat("deletes ", effects), target, policy::Operation::erase, [&] {
            return Error(
                Errc::escalation_required, "escalation_required",
                cat("nothing was changed: this would delete ", files, " files and ", lines,
                    " lines that others wrote. Ask a person to approve it, then make the same "
                    "call again"),
                {{"operation", name_of(policy::Operation::erase)},
                 {"permission", name_of(policy::Permission::human)},
                 {"tree", tree_.directory},
                 {"files", files},
                 {"lines", lines}});
        });
}

}  // namespace quire::kernel

// quire fsck: checks the store against itself, and mends what is derived.
//
// It needs no kernel and starts none: a store that is damaged should be touched as little as
// possible. The exit code is kRefused as long as damage is left.
#include "base/concat.h"
#include "cli/commands/command_list.h"
#include "cli/commands/recovery.h"
#include "cli/commands/terminal.h"
#include "cli/compose/offline_store.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

// A finding on one line, whatever names are in it.
std::string finding_line(const kernel::CheckFinding& finding) {
    std::string of;
    if (!finding.document.empty())
        of = cat(finding.document, finding.title.empty() ? "" : " ", finding.title, ": ");
    return cat(
        finding.mended ? coloured("mended ", Colour::green) : coloured("damaged", Colour::red),
        "  ", text::escape_hidden(cat(of, finding.what)), "\n");
}

std::string check_text(const kernel::StoreCheck& check) {
    std::string out;
    for (const kernel::CheckFinding& finding : check.findings) out += finding_line(finding);
    cat_to(out, cat(plural(check.documents, "document"), " replayed, ", check.damaged,
                    " of them damaged; ", check.audit_entries,
                    " entries of the audit log follow from each other.\n"));
    if (!check.is_clean()) {
        out +=
            "What is damaged cannot be mended: it was written once. quire salvage DIR saves what "
            "can be read;\nto go on from a backup, move .quire away and run quire restore FILE.\n";
    }
    return out;
}

Result<int> run_fsck(const Globals& globals) {
    const auto offline = [&]() -> Result<Value> {
        return json::Codec<kernel::StoreCheck>::encode(TRY(check_offline(globals.workspace)));
    };
    const Value answer =
        TRY(with_or_without_kernel(globals, has_store(globals.workspace), "fsck", {}, offline));
    const auto read = json::read<kernel::StoreCheck>(answer);
    if (!read) return fail(Errc::corrupt, "corrupt", "the kernel's answer makes no sense");
    const bool clean = read->is_clean();
    if (globals.json) {
        Value shown = answer;
        shown.as_map().append("clean", clean);
        return output_json(shown) == kDone && clean ? kDone : kRefused;
    }
    return print(check_text(*read)) && clean ? kDone : kRefused;
}

}  // namespace

Command fsck_command() {
    return {.name = "fsck",
            .about = "Replay every document and compare it with the store; mend the search index",
            .example = "quire fsck --json",
            .action = action_of(run_fsck),
            .touches = Touches::looks};
}

}  // namespace quire::cli

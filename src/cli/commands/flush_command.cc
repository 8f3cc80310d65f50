// quire flush: commits the files to the ref of [files.git] now.
#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "kernel/files/git_flush.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

// Three cases: files were committed, nothing has ever been kept, or nothing differs.
std::string flush_text(const kernel::GitFlushed& flushed) {
    std::string out;
    if (!flushed.files.empty()) {
        out = cat(flushed.ref, " is now ", flushed.commit, ", with ",
                  plural(flushed.files.size(), "changed file"), ":\n");
        for (const std::string& path : flushed.files)
            out += cat("  ", text::escape_hidden(path), "\n");
    } else if (flushed.commit.empty()) {
        out = "Nothing to flush: no file has been opened or changed through Quire yet.\n";
    } else {
        out = cat("Nothing to flush: ", flushed.ref, " has every file as it is.\n");
    }
    for (const std::string& path : flushed.ignored)
        out += cat("left out, because git ignores it: ", text::escape_hidden(path), "\n");
    return out;
}

Result<int> run_flush(const Globals& globals) {
    const Value answer = TRY(request_once(globals, "flush"));
    if (globals.json) return output_json(answer);
    const auto flushed = json::read<kernel::GitFlushed>(answer);
    if (!flushed) return fail(Errc::corrupt, "corrupt", "the kernel's answer makes no sense");
    return output(flush_text(*flushed));
}

}  // namespace

Command flush_command() {
    return {.name = "flush",
            .about = "Commit the files, with edits that are not saved, to the ref of [files.git]",
            .example = "quire flush && git log refs/quire/main",
            .action = action_of(run_flush)};
}

}  // namespace quire::cli

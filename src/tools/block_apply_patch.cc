// block_apply_patch: one patch over several files and blocks, all or nothing. The patch is parsed
// here, before anything is looked up, and its places are found by the kernel when it has the texts
// (kernel/files/file_patch.cc). Both forms that models write are read: a unified diff and "***
// Begin Patch".
#include <optional>
#include <string>
#include <utility>

#include "edits/patch.h"
#include "kernel/files/file_calls.h"
#include "tools/argument_words.h"
#include "tools/patch_answer.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockApplyPatchArgs {
    std::string patch;
    std::optional<std::string> block_id;
    std::optional<bool> dry_run;
};

// The parts of the patch. With a block_id there is one, and its names do not matter. Errors: those
// of edits::parse_patch().
Result<std::vector<edits::FilePatch>> parts_of(const BlockApplyPatchArgs& args,
                                               const edits::EditLimits& limits) {
    std::vector<edits::FilePatch> parts = TRY(edits::parse_patch(args.patch, limits));
    if (!args.block_id) return parts;
    if (parts.size() > 1) {
        return edits::invalid_patch(parts[1].patch_line,
                                    "the patch has a second file, and with block_id it is for one "
                                    "block. Leave block_id out");
    }
    parts.front().name = *args.block_id;
    // A diff against /dev/null makes a file. The named block is there already, so its lines are
    // added to it.
    if (parts.front().action == edits::PatchAction::create)
        parts.front().action = edits::PatchAction::update;
    return parts;
}

}  // namespace

MadeTool make_block_apply_patch(kernel::Kernel& kernel, kernel::FileCalls& files) {
    return make_tool<BlockApplyPatchArgs>(
        {.name = "block_apply_patch",
         .title = "Apply a patch",
         .description = "Apply a unified diff or *** Begin Patch to files and blocks, all or "
                        "none. Hunks go where their lines are.",
         .annotations = {.destructive = true}},
        Fields<BlockApplyPatchArgs>()
            .required("patch", &BlockApplyPatchArgs::patch,
                      "Its file names are paths or block ids.")
            .optional("block_id", &BlockApplyPatchArgs::block_id, "For a patch of this block only.")
            .optional("dry_run", &BlockApplyPatchArgs::dry_run, "Only show what would change."),
        PatchAnswer::fields(),
        [&kernel, &files](const Session& session, const BlockApplyPatchArgs& args,
                          Reply<Answered<PatchAnswer>> reply) {
            Result<std::vector<edits::FilePatch>> parts = parts_of(args, edit_limits(kernel));
            if (!parts) return reply(Failure(std::move(parts).error()));
            const bool dry_run = args.dry_run.value_or(false);
            files.patch(session.caller,
                        {std::move(*parts), dry_run, numbering_of(session.profile)},
                        answer_with(std::move(reply), [profile = session.profile,
                                                       dry_run](kernel::Patched patched) {
                            const std::vector<std::string> notes = std::move(patched.notes);
                            PatchAnswer answer = patch_answer(std::move(patched), profile, dry_run);
                            std::string text = patch_text(answer, notes, dry_run);
                            return Answered<PatchAnswer>{std::move(answer), std::move(text)};
                        }));
        });
}

}  // namespace quire::tools

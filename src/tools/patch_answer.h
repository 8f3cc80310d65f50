// The result of a patch, as block_apply_patch and the tool `file` answer it.
#pragma once

#include <string>
#include <vector>

#include "json/fields.h"
#include "kernel/files/file_calls.h"
#include "tools/tool.h"

namespace quire::tools {

// A hunk's first changed line in the text after the patch, counted as the profile counts, and the
// lines that match only without the blanks at their ends. Fuzz above 0 tells a caller that its copy
// of the text was not exact.
struct PatchedHunk {
    std::size_t applied_at = 0;
    std::size_t fuzz = 0;
    static json::Fields<PatchedHunk> fields();
};
// One changed file or block. `path` is "" for a block that is no file, `block_id` "" for a file
// without a document.
struct PatchedPart {
    std::string block_id;
    std::string path;
    std::uint64_t version = 0;
    std::vector<PatchedHunk> hunks;
    static json::Fields<PatchedPart> fields();
};
struct PatchAnswer {
    std::vector<PatchedPart> blocks;
    std::string diff;
    bool is_dry = false;  // A dry run, which changes nothing. Not a member of the answer.
    // The changed blocks, for the audit log; a list of them where the patch changed several. A dry
    // run names the first block without a version, since it changed none.
    kernel::Touched touched() const;
    static json::Fields<PatchAnswer> fields();
};
// The answer about one file, of the tool `file`. The members of the file stand in front.
struct FilePatchAnswer {
    kernel::FileVersion file;
    std::vector<PatchedHunk> hunks;
    std::string diff;
    static json::Fields<FilePatchAnswer> fields();
};

// Lines are counted as the profile counts. file_patch_answer() takes the first block, of which
// there must be one.
PatchAnswer patch_answer(kernel::Patched patched, Profile profile, bool dry_run = false);
FilePatchAnswer file_patch_answer(kernel::Patched patched, Profile profile);
// The answer for a model to read: a line for each file or block, with the first line of each hunk,
// then the notes. A dry run shows its diff, which an applied patch leaves out, since the model
// wrote it.
std::string patch_text(const PatchAnswer& answer, const std::vector<std::string>& notes,
                       bool dry_run);

}  // namespace quire::tools

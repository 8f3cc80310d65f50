// The kernel's account of a patch becomes three things here: members for a program, a text for a
// model, and the changed blocks for the audit log, by which one undo of the call finds them all.
#include "tools/patch_answer.h"

#include <utility>

#include "base/concat.h"
#include "edits/numbering.h"
#include "tools/file_fields.h"
#include "tools/render.h"

namespace quire::tools {
namespace {

std::vector<PatchedHunk> shown_hunks(const std::vector<edits::HunkPlace>& hunks, Profile profile) {
    std::vector<PatchedHunk> out;
    for (const edits::HunkPlace& hunk : hunks)
        out.push_back({edits::shown(numbering_of(profile), hunk.applied_at), hunk.fuzz});
    return out;
}

}  // namespace

json::Fields<PatchedHunk> PatchedHunk::fields() {
    return json::Fields<PatchedHunk>()
        .required("applied_at", &PatchedHunk::applied_at)
        .required("fuzz", &PatchedHunk::fuzz);
}

json::Fields<PatchedPart> PatchedPart::fields() {
    return json::Fields<PatchedPart>()
        .required("block_id", &PatchedPart::block_id)
        .kept()
        .optional("path", &PatchedPart::path)
        .kept()
        .required("version", &PatchedPart::version)
        .kept()
        .required("hunks", &PatchedPart::hunks);
}

json::Fields<PatchAnswer> PatchAnswer::fields() {
    return json::Fields<PatchAnswer>()
        .constant("success", true)
        .required("blocks", &PatchAnswer::blocks)
        .kept()
        .required("diff", &PatchAnswer::diff)
        .kept();
}

json::Fields<FilePatchAnswer> FilePatchAnswer::fields() {
    return json::Fields<FilePatchAnswer>()
        .members(json::Codec<kernel::FileVersion>::fields(), &FilePatchAnswer::file)
        .required("hunks", &FilePatchAnswer::hunks)
        .required("diff", &FilePatchAnswer::diff)
        .kept();
}

PatchAnswer patch_answer(kernel::Patched patched, Profile profile, bool dry_run) {
    PatchAnswer out;
    out.diff = std::move(patched.diff);
    for (kernel::PatchedBlock& block : patched.blocks) {
        out.blocks.push_back({std::move(block.block_id), std::move(block.path), block.version,
                              shown_hunks(block.hunks, profile)});
    }
    out.is_dry = dry_run;
    return out;
}

kernel::Touched PatchAnswer::touched() const {
    // A patch has at least one part, so there is a first block. `all` is for several alone; one
    // block stands in the members of the entry.
    const PatchedPart& first = blocks.front();
    kernel::Touched out{.block_id = first.block_id, .path = first.path};
    if (is_dry) return out;
    out.version = static_cast<std::int64_t>(first.version);
    if (blocks.size() < 2) return out;
    for (const PatchedPart& each : blocks)
        out.all.push_back({each.block_id, each.version, each.path});
    return out;
}

FilePatchAnswer file_patch_answer(kernel::Patched patched, Profile profile) {
    kernel::PatchedBlock& block = patched.blocks.front();
    return {{std::move(block.path), std::move(block.block_id), block.version},
            shown_hunks(block.hunks, profile),
            std::move(patched.diff)};
}

std::string patch_text(const PatchAnswer& answer, const std::vector<std::string>& notes,
                       bool dry_run) {
    std::string out = dry_run ? "Nothing was changed: the patch applies as follows.\n"
                              : "Done: all of the patch was applied.\n";
    for (const PatchedPart& part : answer.blocks) {
        const std::string& name = part.path.empty() ? part.block_id : part.path;
        cat_to(out, cat(name, part.block_id.empty() || part.path.empty()
                                  ? std::string()
                                  : cat(" (", part.block_id, ")"),
                        ": version ", part.version));
        for (std::size_t i = 0; i < part.hunks.size(); ++i) {
            const PatchedHunk& hunk = part.hunks[i];
            cat_to(out, cat(i == 0 ? ", changed from line " : ", ", hunk.applied_at));
            if (hunk.fuzz > 0)
                cat_to(out, cat(" (fuzz ", hunk.fuzz, ": blanks at line ends differed)"));
        }
        out += "\n";
    }
    return cat(out, note_lines(notes), dry_run ? answer.diff : std::string());
}

}  // namespace quire::tools

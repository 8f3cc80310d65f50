// Patches: a unified diff, or the envelope `*** Begin Patch`, turned into splices of the texts that
// it names.
//
// The patch is parsed once; each text is then planned by itself, whole or not at all. A hunk goes
// to the place where its lines are, never to a line number alone: exact at the number that the
// patch gives; else exact where it occurs once; else where it occurs once with the blanks at the
// ends of lines ignored. Nothing here touches a document, a disk or a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edits/numbering.h"
#include "edits/plan.h"
#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

enum class PatchMark : std::uint8_t { context, removed, added };

// One line of a hunk, without mark and terminator.
struct PatchLine {
    PatchMark mark = PatchMark::context;
    bool cr = false;      // Its terminator is "\r\n".
    bool newline = true;  // False under "\ No newline at end of file".
    std::string text;
};

struct PatchHunk {
    std::size_t patch_line = 0;         // The line of the patch with which it begins, from 1.
    std::optional<std::size_t> hint;    // The line, from 0, at which the patch expects it.
    std::vector<std::string> headings;  // Lines above it, outermost first ("@@ class Poem").
    std::vector<PatchLine> lines;       // At least one of them is removed or added.
    bool at_end = false;                // Its last line is the last of the text.
    bool tells_final_newline = true;    // An envelope without markers does not.
};

// The change of a whole text. A patch that creates has no old lines.
enum class PatchAction : std::uint8_t { update, create, erase };

// The change of a text by somebody who knew all of it, before and after.
struct WholeText {
    std::string before;
    std::string after;
};

// The part of a patch that concerns one text.
struct FilePatch {
    PatchAction action = PatchAction::update;
    std::string name;           // The text's name, without "a/" and "b/"; "" if none is given.
    std::string new_name = {};  // The name that an update moves it to; "" if it stays.
    std::size_t patch_line = 0;
    std::vector<PatchHunk> hunks = {};
    std::optional<WholeText> whole = {};  // In place of hunks.
};

// Understands git's headers, quoted names, /dev/null, renames, patches with "\r\n", wrong counts in
// "@@" lines, and text around the patch. Linear. Errors: invalid_argument "invalid_patch"
// {patch_line}, "invalid_utf8" {offset}; out_of_range "too_large" {limit}.
Result<std::vector<FilePatch>> parse_patch(std::string_view patch, const EditLimits& limits = {});

// The place of one hunk.
struct HunkPlace {
    text::Line applied_at;  // Its first changed line, in the text after the patch.
    std::size_t fuzz = 0;   // The lines that match only without the blanks at their ends.
};
struct PatchedText {
    std::vector<text::Splice> splices;  // As in Planned.
    std::vector<HunkPlace> hunks;       // In the patch's order.
};

// Plans all hunks of `patch` on `text`, whatever the patch does with the file. A whole text is merged
// with what others have made of the text it began with (text/merge3.h). Written newlines
// follow the text's style where the patch has no "\r\n" of its own. O(text + patch).
//
// Errors tell every hunk that fails, in details.hunks: [{patch_line, reason, lines?}], and take
// code and reason from the first: conflict "hunk_not_found", "ambiguous_hunk" {lines};
// invalid_argument "invalid_patch" {patch_line} for two hunks that change the same lines. Of a whole
// text: conflict "disk_changed" where others changed the same words. Else
// out_of_range "too_large" {limit}.
Result<PatchedText> plan_patch(const FilePatch& patch, const seq::Rope& text, Numbering numbering,
                               const EditLimits& limits = {});

// Error: invalid_argument "invalid_patch" {patch_line}.
Failure invalid_patch(std::size_t patch_line, std::string_view why);

}  // namespace quire::edits

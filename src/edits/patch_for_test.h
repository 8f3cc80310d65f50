// Test support: a patch, the text it is for, and the result.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edits/patch.h"
#include "edits/poem_for_test.h"

namespace quire::edits {

// The plan of the patch's only file on `text`.
inline Result<PatchedText> plan_of(std::string_view patch, std::string_view text,
                                   Numbering numbering = Numbering::zero_half_open) {
    std::vector<FilePatch> files = TRY(parse_patch(patch));
    if (files.size() != 1) return fail(Errc::unavailable, "several_files", "several files");
    return plan_patch(files.front(), seq::Rope(text), numbering);
}

// The text after the patch, or the reason for its failure in angle brackets.
inline std::string patched(std::string_view patch, std::string_view text) {
    Result<PatchedText> planned = plan_of(patch, text);
    if (!planned) return "<" + planned.error().reason() + ">";
    return applied(text, {std::move(planned->splices), {}});
}

inline Error patch_refusal(std::string_view patch, std::string_view text,
                           Numbering numbering = Numbering::zero_half_open) {
    Result<PatchedText> planned = plan_of(patch, text, numbering);
    return planned ? Error(Errc::unavailable, "was_not_refused", "") : std::move(planned).error();
}

}  // namespace quire::edits

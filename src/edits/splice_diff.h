// The unified diff of an edit whose splices are known.
#pragma once

#include <span>
#include <string>

#include "seq/rope.h"
#include "text/diff.h"
#include "text/units.h"

namespace quire::edits {

// The diff that text::unified_diff() gives of the text and of what the splices make of it, except
// that only the lines around the splices are compared. The splices ascend and count in `before`.
// O(log n) for each splice, plus the lines that they touch.
std::string splice_diff(const seq::Rope& before, std::span<const text::Splice> splices,
                        const text::UnifiedOptions& options);

}  // namespace quire::edits

// Claims: who else is at work on a file, and on which of its lines, before the trees meet.
//
// Nobody makes a claim; it is derived from the trees. Another tree claims the lines that it has changed and
// not landed, the workspace those that this tree has not taken in yet.
#pragma once

#include <string>
#include <vector>

#include "kernel/views/view_values.h"

namespace quire::views {
class BaseTexts;
struct TreeState;
}  // namespace quire::views

namespace quire::kernel {

class OpenTree;

// One side of a question: its files, and what it has in common with the workspace; null for the
// workspace itself.
struct TreeSide {
    const OpenTree* files = nullptr;
    const views::TreeState* state = nullptr;
};

// The claims of `others` on a file of `own`, in their order. The workspace's claim has no actor
// yet, since only the file's history knows it. `since_ms` is when the other's file was modified, 0
// where it is gone; `age_ms` is left to the caller. A file that cannot be read counts as missing.
// O(bytes of the file, in each tree) beside two diffs for each.
std::vector<Claim> claims_on(const std::string& path, const TreeSide& own,
                             const std::vector<TreeSide>& others, const views::BaseTexts& bases);

}  // namespace quire::kernel

// Claims: who else is at work on a file, and on which of its lines, before the trees meet.
//
// Nobody makes a claim; it is derived from the trees. Another tree claims the lines that it has changed and
// not landed, the workspace those that this tree has not taken in yet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/views/tree_sync.h"
#include "text/units.h"

namespace quire::kernel {

struct Claim {
    std::string path;
    std::string tree;  // The adopted tree that changed the file; "" for the workspace.
    std::string actor;
    // The lines of the asking tree's file, from 0, in whose place the other has something else. An empty
    // range is a place where the other has inserted lines.
    std::vector<text::LineRange> lines;
    std::int64_t since_ms = 0;  // When the other changed it last.
};

// One side of a question: its files, and what it has in common with the workspace; null for the
// workspace itself.
struct TreeSide {
    const OpenTree* files = nullptr;
    const views::TreeState* state = nullptr;
};

// The claims of `others` on a file of `own`. O(bytes of the file, in each tree).
std::vector<Claim> claims_on(const std::string& path, const TreeSide& own,
                             const std::vector<TreeSide>& others, const views::BaseTexts& bases);

}  // namespace quire::kernel

// A Plan is an edit decided but not yet made: a pure function from the text as it is to the splices that
// change it. The kernel runs it and applies its splices in one step on the block's strand, so that what
// was checked is what is changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "seq/rope.h"
#include "text/units.h"

namespace quire::blocks {

struct Planned {
    // In the text before the call, ascending, not overlapping. Empty for an edit that changes nothing.
    std::vector<text::Splice> splices;
    std::vector<std::string> notes;  // What a reader should know ("the block ends without a newline").
};

using Plan = Function<Result<Planned>(const seq::Rope& text, std::uint64_t version)>;

}  // namespace quire::blocks

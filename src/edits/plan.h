// A Plan is an edit that is decided but not yet made: a pure function from the present text to the
// splices that change it. The kernel runs the plan and applies its splices in one step on the
// block's strand, so no change can come between check and edit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

// The result of a plan.
struct Planned {
    // The splices count in the text before the call: ascending, not overlapping. Empty if the edit
    // changes nothing.
    std::vector<text::Splice> splices;
    std::vector<std::string> notes;  // Remarks for the reader ("the block ends without a newline").
    // The inserted text was the block's own before, so only the size of the block is limited.
    bool is_own_text = false;
};

// `version` is the version of the block that holds `text`.
using Plan = Function<Result<Planned>(const seq::Rope& text, std::uint64_t version)>;

struct EditLimits {
    std::size_t block_bytes = 16U << 20;
    std::size_t operation_bytes = 1U << 20;  // The most text that one operation may bring.
    std::size_t operations = 10'000;
};

// Checks that every plan makes. Errors: out_of_range "too_large" {limit}; invalid_argument
// "invalid_utf8"; conflict "version_conflict" {base, current}.
Result<void> check_written(std::string_view content, const EditLimits& limits);
Result<void> check_block_size(std::size_t bytes, const EditLimits& limits);
Result<void> check_base(std::uint64_t base, std::uint64_t current);

}  // namespace quire::edits

// A refusal that a person can lift carries the diff of what would change. The person has to see all
// of it, so characters that hide or reorder text are escaped; its length is bounded.
#include "kernel/core/caller.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/concat.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

constexpr std::string_view kDiff = "diff";
constexpr std::size_t kMostDiff = std::size_t{16} << 10;

}  // namespace

Error Caller::with_diff(Error refusal, std::string diff) {
    if (diff.size() > kMostDiff) {
        // The cut is at the end of a line. A first line that is longer than the bound leaves
        // nothing to show, and all lines are counted.
        const std::size_t line_end = diff.rfind('\n', kMostDiff - 1);
        const std::size_t cut = line_end == std::string::npos ? 0 : line_end + 1;
        const auto lines = std::count(diff.begin() + static_cast<std::ptrdiff_t>(cut), diff.end(), '\n');
        diff.resize(cut);
        diff += cat("(", lines, " more lines)\n");
    }
    if (!diff.empty()) refusal.details().set(kDiff, text::escape_hidden_lines(diff));
    return refusal;
}

std::string Caller::take_diff(Error& refusal) {
    Value* const held = refusal.details().find(kDiff);
    if (held == nullptr) return {};
    std::string diff = held->as_string();
    refusal.details().erase(kDiff);
    return diff;
}

}  // namespace quire::kernel

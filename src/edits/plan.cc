#include "edits/plan.h"

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::edits {

// Text from outside is checked once, here.
Result<void> check_written(std::string_view content, const EditLimits& limits) {
    if (content.size() > limits.operation_bytes) {
        return fail(Errc::out_of_range, "too_large",
                    cat("the text to write has ", content.size(),
                        " bytes, and one operation may write at most ", limits.operation_bytes,
                        ". Write it in several calls"),
                    {{"limit", limits.operation_bytes}});
    }
    if (const auto at = utf8::find_invalid(content)) {
        return invalid("invalid_utf8",
                       cat("the text to write is not well-formed UTF-8 at byte ", *at),
                       {{"offset", *at}});
    }
    return {};
}

Result<void> check_block_size(std::size_t bytes, const EditLimits& limits) {
    if (bytes <= limits.block_bytes) return {};
    return fail(Errc::out_of_range, "too_large",
                cat("the block would have ", bytes, " bytes, and at most ", limits.block_bytes,
                    " are allowed. Put the rest into another block"),
                {{"limit", limits.block_bytes}});
}

Result<void> check_base(std::uint64_t base, std::uint64_t current) {
    if (base == current) return {};
    return fail(Errc::conflict, "version_conflict",
                cat("the block is at version ", current, ", and the call was made for version ",
                    base, ". Read it again and repeat the call with base_version ", current),
                {{"base", base}, {"current", current}});
}

}  // namespace quire::edits

#include "kernel/core/versions.h"

#include <algorithm>

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::kernel {
namespace {

Result<BlockAt> at_unit(const std::vector<Unit>& units, std::size_t index) {
    const Unit& unit = units[index];
    if (!unit.heads) {
        return fail(
            Errc::unsupported, "version_too_old",
            cat("version ", unit.version,
                " was written by an earlier quire, which did not keep what going back to it "
                "needs"),
            {{"version_id", cat(unit.version)}});
    }
    return BlockAt{unit.version, *unit.heads, units.size() - index - 1};
}

}  // namespace

Result<BlockAt> block_at(LiveDocument& document, const BlockRef& block,
                         const std::optional<std::string>& version_id) {
    const BlockState& state = *block.state;
    if (!version_id || *version_id == cat(state.version))
        return BlockAt{state.version, document.doc().frontiers(), 0};
    const std::vector<Unit>& units = state.history.units();
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& each) {
        return cat(each.version) == *version_id;
    });
    if (unit == units.end()) {
        return fail(Errc::not_found, "invalid_reference",
                    cat("there is no version '", utf8::prefix(*version_id, 40),
                        "' of this block; its history shows those there are"),
                    {{"version_id", *version_id}});
    }
    return at_unit(units, static_cast<std::size_t>(unit - units.begin()));
}

Result<BlockAt> block_before(const BlockRef& block, const BlockAt& at) {
    const std::vector<Unit>& units = block.state->history.units();
    if (at.units_since + 1 >= units.size()) return BlockAt{0, {}, units.size()};
    return at_unit(units, units.size() - at.units_since - 2);
}

}  // namespace quire::kernel

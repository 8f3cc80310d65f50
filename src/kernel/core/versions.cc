// An entry of a block's history has the heads of its document after it, and that is all that a
// version is: texts and differences are computed from the document's history when they are asked
// for. text_at() replays one text, rope_at() applies the difference between now and then to a copy
// of the text now, which is cheaper for a version that is near.
#include "kernel/core/versions.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "kernel/core/kinds.h"
#include "text/diff.h"
#include "text/escape_hidden.h"

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
    // The present version needs no entry: an entry of an earlier program has no heads, and after a
    // crash a block may stand at a version that was reserved and has no entry.
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
    // Before its first entry a block had no text, as the empty document has none.
    if (at.units_since + 1 >= units.size()) return BlockAt{0, {}, units.size()};
    return at_unit(units, units.size() - at.units_since - 2);
}

void apply_delta(seq::Rope& text, const crdt::TextDelta& delta) {
    text::CodePoint at{0};
    for (const crdt::TextStep& step : delta) {
        if (const auto* kept = std::get_if<crdt::Retain>(&step)) {
            at.n += kept->count;
        } else if (const auto* gone = std::get_if<crdt::Erase>(&step)) {
            text.erase(at, {gone->count});
        } else if (const auto* put = std::get_if<crdt::PutText>(&step)) {
            // The rope says how many code points came in, so the text is not decoded twice.
            const std::size_t before = text.code_points().n;
            text.insert(at, put->text);
            at.n += text.code_points().n - before;
        }
    }
}

Result<seq::Rope> rope_at(LiveDocument& document, crdt::Handle content,
                          const crdt::Frontiers& heads) {
    crdt::Doc& doc = document.doc();
    seq::Rope text = doc.text(content).rope();
    const crdt::Frontiers now = doc.frontiers();
    if (heads == now) return text;
    TRY(doc.history().load());
    text = doc.text(content).rope();
    const crdt::Diff diff = TRY(doc.history().diff(now, heads));
    const crdt::ContainerId id = doc.id_of(content);
    for (const crdt::ContainerDiff& each : diff) {
        const auto* const delta = std::get_if<crdt::TextDelta>(&each.delta);
        if (delta != nullptr && each.container == id) apply_delta(text, *delta);
    }
    return text;
}

Result<std::string> text_at(LiveDocument& document, const BlockRef& block, const BlockAt& at) {
    const auto text = document.doc().text(block.content);
    return at.units_since == 0 ? Result<std::string>(text.rope().str()) : text.at(at.heads);
}

std::string diff_name(LiveDocument& document, const BlockRef& block) {
    return is_file_text(document.kind()) ? text::escape_hidden(document.name())
                                         : document.id_of(block).str();
}

BlockDiff diff_of_texts(std::string_view block, std::string_view before, std::string_view after,
                        BlockDiff sides) {
    const auto name = [&](const std::string& version) {
        return cat(block, "\t", version.empty() ? "on disk" : cat("version ", version));
    };
    sides.diff =
        text::unified_diff(before, after, {.from = name(sides.from), .to = name(sides.to)});
    return sides;
}

Result<TextEdit> rollback_edit(LiveDocument& document, const BlockRef& block,
                               const std::string& version_id) {
    const BlockAt at = TRY(block_at(document, block, version_id));
    std::string wanted = TRY(text_at(document, block, at));
    auto plan = [wanted = std::move(wanted)](const seq::Rope& text,
                                             std::uint64_t) -> Result<edits::Planned> {
        // The text was the block's own once, so the bound on what one call may insert does not hold
        // for it.
        return edits::Planned{text::minimal_splices(text.str(), wanted), {}, true};
    };
    return TextEdit{cat("rollback ", version_id), std::move(plan)};
}

}  // namespace quire::kernel

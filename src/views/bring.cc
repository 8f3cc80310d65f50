// Bringing, case by case. `=` is "has the same bytes, or is missing as well":
//
//   from = into             nothing to do, and both have this in common now
//   from = base             `from` has not changed: `into` stays, and so does the base
//   into = base             `into` has not changed: it becomes `from`, a deletion included
//   one of them is missing  one side deleted what the other changed: a tie of the whole file
//   else                    a merge by line and token, unless both wrote the text anew
//
// After a merge the base is `from` with the base's own text at each tie. So the merged part of
// `from` is not brought again, a tie is met again next time, and once `into` has taken over
// `from`'s text there, or the other way round, the sides are equal at that place and the tie is
// gone.
#include "views/bring.h"

#include <algorithm>
#include <utility>

#include "text/diff.h"

namespace quire::views {
namespace {

std::optional<std::string> copy(const std::optional<std::string_view>& text) {
    return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::string text_of(const std::optional<std::string_view>& text) {
    return std::string(text.value_or(std::string_view()));
}

// Returns true if less than half of the base is left in the text.
bool rewrites(std::string_view base, std::string_view text) {
    std::size_t erased = 0;
    for (const text::Splice& splice : text::minimal_splices(base, text)) erased += splice.erase.n;
    return 2 * (base.size() - erased) < base.size();
}

// Both sides stay what they are.
Brought tied(const Sides& sides, files::ConflictKind kind) {
    return {copy(sides.into),
            copy(sides.base),
            {{kind, text_of(sides.base), text_of(sides.from), text_of(sides.into), 0}}};
}

}  // namespace

Brought bring(const Sides& sides, const Manner& manner) {
    if (sides.from == sides.into) return {copy(sides.into), copy(sides.from), {}};
    if (sides.from == sides.base) return {copy(sides.into), copy(sides.base), {}};
    if (sides.into == sides.base) return {copy(sides.from), copy(sides.from), {}};
    if (!sides.from || !sides.into) return tied(sides, files::ConflictKind::deletion);
    const std::string_view base = sides.base.value_or(std::string_view());
    // Two texts without a common one, or of which each was written anew, would end up one after the
    // other.
    if (manner.whole || base.empty() ||
        (rewrites(base, *sides.from) && rewrites(base, *sides.into)))
        return tied(sides, files::ConflictKind::whole);
    text::Merged merged =
        text::merge3(base, *sides.into, *sides.from, text::Side::ours, manner.first);
    Brought out;
    std::string agreed(*sides.from);
    // From the last tie in `from` to the first, so that the positions of those before it stay true
    // while `agreed` changes its length.
    std::ranges::sort(merged.ties, {}, [](const text::Tie& tie) { return tie.theirs_at.n; });
    for (auto tie = merged.ties.rbegin(); tie != merged.ties.rend(); ++tie) {
        const std::string_view before = base.substr(tie->begin.n, tie->end.n - tie->begin.n);
        agreed.replace(tie->theirs_at.n, tie->theirs.size(), before);
        const auto line =
            std::ranges::count(std::string_view(merged.text).substr(0, tie->at.n), '\n');
        out.ties.push_back({files::ConflictKind::lines, std::string(before), std::move(tie->theirs),
                            std::move(tie->ours), static_cast<std::size_t>(line)});
    }
    std::ranges::reverse(out.ties);
    out.text = std::move(merged.text);
    out.base = std::move(agreed);
    return out;
}

}  // namespace quire::views

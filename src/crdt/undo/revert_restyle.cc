// Styles of text that comes back. Its place lies in the styles that were made around it while it
// was gone, and in a copy of its text it does not lie in those that it had.
#include <algorithm>

#include "crdt/undo/reversal.h"

namespace quire::crdt {

bool Reversal::same_style(Lv a, Lv b) const {
    return stand_ins_.style_in_force(a) == stand_ins_.style_in_force(b);
}

void Reversal::restyle(Container& home, Container& to, const std::vector<Piece>& pieces,
                       const std::vector<Lv>& made, Lv first) {
    Register taken;
    taken.first = first;
    // Atoms side by side in a piece were never parted by an anchor: the first one tells for all.
    const auto decided_at = [&](Container& c, const auto& first_atom, Gone gone,
                                const auto& counts) {
        std::vector<std::pair<std::size_t, Deciding>> found(pieces.size());
        std::vector<std::pair<Lv, std::size_t>> wanted;
        for (std::size_t i = 0; i < pieces.size(); ++i) wanted.emplace_back(first_atom(i), i);
        std::sort(wanted.begin(), wanted.end());
        std::size_t at = 0;
        for_each_styled(c, text_parts(c, gone), [&](const TextPart& part, const OpenStyles& all) {
            for (auto next = std::lower_bound(wanted.begin(), wanted.end(),
                                              std::pair(part.lv, std::size_t{0}));
                 next != wanted.end() && next->first < part.lv + part.len; ++next) {
                auto& [position, deciding] = found[next->second];
                position = at + (next->first - part.lv);
                for (const auto& [key, open] : all) {
                    const auto best = std::find_if(open.rbegin(), open.rend(), counts);
                    if (best != open.rend()) deciding[key] = *best;
                }
            }
            if (part.visible) at += part.len;
        });
        return found;
    };
    const auto then = decided_at(
        home, [&](std::size_t i) { return pieces[i].lv; }, Gone::kept,
        [&](Lv style) { return stood_before(taken, style); });
    const auto now = decided_at(
        to, [&](std::size_t i) { return made[i]; }, Gone::left_out, [](Lv) { return true; });

    // Styles that a piece had and lacks now are put on it again; styles that it never had come off.
    std::vector<std::pair<Styled, std::string>> changes;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto& [begin, has] = now[i];
        const Deciding& had = then[i].second;
        for (const auto& [key, style] : had) {
            const auto at = has.find(key);
            if (at == has.end() || !same_style(style, at->second))
                changes.push_back({{begin, begin + pieces[i].len, style}, key});
        }
        for (const auto& [key, style] : has) {
            if (!had.contains(key)) changes.push_back({{begin, begin + pieces[i].len, kNoLv}, key});
        }
    }
    for (const auto& [part, key] : changes) {
        if (part.style != kNoLv) {
            put_same(to, part, key);
        } else {
            put_style(to, part, key, {});
        }
    }
}

}  // namespace quire::crdt

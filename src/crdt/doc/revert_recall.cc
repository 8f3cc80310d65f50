// What was brought back, told by ids, and learned again.
#include <algorithm>

#include "base/cat.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

std::vector<StandIn> Doc::stand_ins(const IdSpan& reverted) const {
    std::vector<StandIn> out;
    const AtomTable& atoms = body_->oplog().atoms();
    const auto tell = [&](const Identities& identities, LvSpan span, bool has_place) {
        identities.for_each_copy(span, [&](Lv of, Lv copy, std::uint32_t len) {
            // Neighbours here need not be neighbours by id.
            while (len > 0) {
                const std::uint32_t n =
                    std::min({len, atoms.run_end(of) - of, atoms.run_end(copy) - copy});
                out.push_back(
                    {atoms.id_of(of), atoms.id_of(copy), static_cast<Counter>(n), has_place});
                of += n;
                copy += n;
                len -= n;
            }
        });
    };
    const Counter end = std::min(reverted.end, atoms.end_of(reverted.peer));
    if (reverted.begin >= end) return out;
    const StandIns& all = body_->stand_ins();
    for (const LvSpan& span : atoms.spans_of({reverted.peer, reverted.begin, end})) {
        tell(all.atoms, span, false);
        tell(all.places, span, true);
    }
    return out;
}

Result<void> Doc::recall(std::vector<StandIn> stand_ins) {
    TRY(load_history());
    const AtomTable& atoms = body_->oplog().atoms();
    struct Known {
        Lv of;
        Lv copy;
        std::uint32_t len;
        bool has_place;
    };
    std::vector<Known> known;
    for (const StandIn& one : stand_ins) {
        const auto last = [&](OpId id) { return OpId{id.peer, id.counter + one.length - 1}; };
        const std::optional<Lv> of = atoms.lv_of(one.of);
        const std::optional<Lv> copy = atoms.lv_of(one.copy);
        const auto len = static_cast<std::uint32_t>(one.length);
        if (one.length <= 0 || !of || !copy || atoms.lv_of(last(one.of)) != *of + len - 1 ||
            atoms.lv_of(last(one.copy)) != *copy + len - 1 || *of >= *copy) {
            return corrupt(cat("what ", one.copy.counter, "@", one.copy.peer,
                               " is said to stand for is not in the history"));
        }
        known.push_back({*of, *copy, len, one.has_place});
    }
    // In the order in which they came back.
    std::sort(known.begin(), known.end(),
              [](const Known& a, const Known& b) { return a.copy < b.copy; });
    StandIns& all = body_->stand_ins();
    for (const Known& one : known)
        (one.has_place ? all.places : all.atoms).add(one.of, one.copy, one.len);
    return {};
}

}  // namespace quire::crdt

// revert(): finds the containers that the spans touched and has each one taken back by its kind.
// O(spans + containers · log containers) beside that.
#include "crdt/undo/reversal.h"

#include <algorithm>
#include <map>

#include "crdt/doc/history.h"

namespace quire::crdt {

Reversal::Reversal(DocBody& body, std::vector<LvSpan> spans, RevertOptions options)
    : body_(body),
      spans_(std::move(spans)),
      options_(options),
      stand_ins_(stand_ins_of(body)),
      began_(body.oplog().end()) {}

void Reversal::take_back(Container& c) {
    switch (c.id.kind) {
        case ContainerKind::text:
            sequence(c);
            return styles(c);
        case ContainerKind::list:
            return sequence(c);
        case ContainerKind::map:
            return map(c);
        case ContainerKind::tree:
            return tree(c);
        case ContainerKind::movable_list:
            return movable(c);
        case ContainerKind::counter:
            return counter(c);
    }
}

// Answers for a whole stretch, so that callers ask once for it and not for every atom.
std::pair<bool, Lv> Reversal::holds(Lv lv) const {
    const auto after =
        std::upper_bound(spans_.begin(), spans_.end(), lv,
                         [](Lv value, const LvSpan& span) { return value < span.begin; });
    if (after != spans_.begin() && lv < (after - 1)->end) return {true, (after - 1)->end};
    return {false, after == spans_.end() ? kNoLv : after->begin};
}

// Stretches that may overlap, as disjoint ones with their counts.
std::vector<Reversal::Stretch> Reversal::counted(const std::vector<LvSpan>& spans) {
    std::map<Lv, std::int32_t> steps;
    for (const LvSpan& span : spans) {
        ++steps[span.begin];
        --steps[span.end];
    }
    std::vector<Stretch> out;
    std::int32_t depth = 0;
    Lv from = 0;
    for (const auto& [lv, step] : steps) {
        if (depth > 0 && from < lv) out.push_back({from, lv, static_cast<std::uint32_t>(depth)});
        depth += step;
        from = lv;
    }
    return out;
}

// A container that was deleted and brought back goes on in a copy, and so does what is taken back
// in it.
Container* Reversal::living(Container& c) {
    if (body_.is_alive(c)) return &c;
    Container& heir = body_.container(stand_ins_.heir(c.index));
    return &heir != &c && body_.is_alive(heir) ? &heir : nullptr;
}

Result<Undone> revert(Doc& doc, std::span<const IdSpan> spans, std::span<const Handle> only,
                      RevertOptions options) {
    if (body_of(doc).at() != nullptr) return DocBody::refuse_detached();
    TRY(doc.history().load());
    DocBody& body = body_of(doc);
    const OpLog& log = body.oplog();
    std::vector<LvSpan> lvs;
    // Containers by when they came to be: a parent is older than its children.
    std::vector<std::pair<Lv, ContainerIndex>> touched;
    for (const IdSpan& span : spans) {
        const Counter end = std::min(span.end, log.atoms().end_of(span.peer));
        if (span.begin >= end) continue;
        for (const LvSpan& part : log.atoms().spans_of({span.peer, span.begin, end})) {
            lvs.push_back(part);
            log.for_each_owner(part, [&](ContainerIndex index, LvSpan) {
                const ContainerId& id = body.name_of(index);
                const Lv made = id.is_root() ? 0 : log.atoms().lv_of(id.op()).value_or(kNoLv);
                touched.emplace_back(made, index);
            });
        }
    }
    // Spans may overlap or touch; a Reversal wants them ascending and apart.
    std::sort(lvs.begin(), lvs.end(),
              [](const LvSpan& a, const LvSpan& b) { return a.begin < b.begin; });
    std::vector<LvSpan> apart;
    for (const LvSpan& span : lvs) {
        if (!apart.empty() && span.begin <= apart.back().end) {
            apart.back().end = std::max(apart.back().end, span.end);
        } else {
            apart.push_back(span);
        }
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    Reversal reversal(body, std::move(apart), options);
    for (const auto& [made, index] : touched) {
        const bool wanted =
            only.empty() || std::find(only.begin(), only.end(), Handle{index}) != only.end();
        if (wanted) reversal.take_back(body.container(index));
    }
    return reversal.undone();
}

}  // namespace quire::crdt

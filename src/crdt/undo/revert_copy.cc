// Child containers that come back: ids are never used again, so what returns is a copy. Each atom
// of it stands for the one that it was made of, so later reverts reach into the copy. O(what the
// container holds).
#include <algorithm>

#include "crdt/doc/order.h"
#include "crdt/undo/reversal.h"

namespace quire::crdt {

namespace {

// Deeper children come back empty: copying recurses, and somebody may nest them on purpose.
constexpr int kMaxDepth = 512;

}  // namespace

void Reversal::copy_slot(const Slot& slot, Lv from, Lv to, int depth) {
    const auto* kind = std::get_if<ContainerKind>(&slot);
    if (kind == nullptr) return;
    const ContainerIndex source = body_.open(body_.child_id(from, *kind));
    const ContainerIndex target = body_.open(body_.child_id(to, *kind));
    copy(body_.container(source), body_.container(target), depth + 1);
}

void Reversal::copy(Container& from, Container& to, int depth) {
    stand_ins_.copied(from.index, to.index);
    if (depth > kMaxDepth) return;
    const ContainerLog& log = *from.log;
    switch (from.id.kind) {
        case ContainerKind::text:
        case ContainerKind::list: {
            // Writing to the document may move the sequence, so the letters are listed first.
            std::vector<LvSpan> visible;
            order_of({body_, from}).for_each_last([&](Lv lv, std::uint32_t len, bool is_visible) {
                if (is_visible) visible.push_back({lv, lv + len});
            });
            for (LvSpan span : visible) {
                while (span.begin < span.end) {
                    const Run run = log.runs()[log.find(span.begin)];
                    const Lv lv = span.begin;
                    const std::uint32_t len = std::min(run.end(), span.end) - lv;
                    span.begin += len;
                    if (run.kind != RunKind::insert) continue;
                    const Lv made = body_.oplog().end();
                    if (from.id.kind == ContainerKind::text) {
                        auto& text = to.as<TextBody>();
                        text.insert({body_, to}, text.size, std::string(log.text(run, lv, len)),
                                    len);
                        stand_ins_.atoms.add(lv, made, len);
                        continue;
                    }
                    std::vector<Slot> values;
                    for (Lv at = lv; at < lv + len; ++at) values.push_back(log.value(run, at));
                    to.sequence()->insert_values({body_, to}, to.sequence()->size, values);
                    stand_ins_.atoms.add(lv, made, len);
                    for (std::uint32_t i = 0; i < len; ++i)
                        copy_slot(values[i], lv + i, made + i, depth);
                }
            }
            copy_styles(from, to);
            return;
        }
        case ContainerKind::map: {
            std::vector<std::pair<std::string, Lv>> entries;
            from.as<MapBody>().state.for_each([&](const std::string& key, const auto& entry) {
                if (!entry.winner.erases) entries.emplace_back(key, entry.winner.lv);
            });
            for (const auto& [key, lv] : entries) {
                const Slot slot = *body_.slot_of(lv);
                const Lv made = body_.oplog().end();
                to.as<MapBody>().write({body_, to}, MapSet{key, slot});
                stand_ins_.atoms.add(lv, made, 1);
                copy_slot(slot, lv, made, depth);
            }
            return;
        }
        case ContainerKind::tree:
            return copy_tree(from, to, depth);
        case ContainerKind::movable_list:
            return copy_movable(from, to, depth);
        case ContainerKind::counter:
            if (const double sum = from.as<CounterBody>().total({body_, from}, nullptr); sum != 0)
                CounterBody::add({body_, to}, sum);
            return;
    }
}

}  // namespace quire::crdt

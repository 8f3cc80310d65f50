// What ops did to containers, as deltas.
#include <algorithm>

#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/merge/splices.h"

namespace quire::crdt {

// What the ops of a text or list in `span`, the log's last, did to it: their positions say so, and
// neither rope nor sequence is asked.
Splices DocBody::splices_in(Container& c, LvSpan span) {
    const ContainerLog& log = log_of(c);
    Splices splices;
    auto effect = std::lower_bound(c.effects.begin(), c.effects.end(), span.begin,
                                   [](const Effect& e, Lv lv) { return e.lv < lv; });
    for (const Run& run : log.runs_in(span)) {
        const Lv from = std::max(run.lv, span.begin);
        const Lv to = std::min(run.end(), span.end);
        if (!run.in_sequence()) continue;
        if (!run.linear) {
            for (; effect != c.effects.end() && effect->lv < to; ++effect) {
                if (effect->erase) {
                    splices.erase(effect->pos, effect->len);
                } else {
                    splices.insert(effect->pos, effect->lv, effect->len);
                }
            }
        } else if (run.is_insert()) {
            splices.insert(run.pos + (from - run.lv), from, to - from);
        } else if (run.kind == RunKind::erase_forward) {
            splices.erase(run.pos, to - from);
        } else {
            splices.erase(run.pos - (to - 1 - run.lv), to - from);
        }
    }
    return splices;
}

TextDelta DocBody::text_delta_of(Container& c, LvSpan span) {
    const ContainerLog& log = log_of(c);
    TextDelta delta;
    for (const Splices::Piece& piece : splices_in(c, span).take()) {
        switch (piece.kind) {
            case Splices::Kind::keep:
                crdt::retain(delta, piece.len);
                break;
            case Splices::Kind::erase:
                crdt::erase(delta, piece.len);
                break;
            case Splices::Kind::insert:
                for (Lv lv = piece.lv; lv < piece.lv + piece.len;) {
                    const Run& run = log.runs()[log.find(lv)];
                    const Lv end = std::min(run.end(), piece.lv + piece.len);
                    if (run.kind == RunKind::insert) put(delta, log.text(run, lv, end - lv));
                    lv = end;
                }
                break;
        }
    }
    finish(delta);
    return delta;
}

ListDelta DocBody::list_delta_of(Container& c, LvSpan span) {
    ListDelta delta;
    for (const Splices::Piece& piece : splices_in(c, span).take()) {
        switch (piece.kind) {
            case Splices::Kind::keep:
                crdt::retain(delta, piece.len);
                break;
            case Splices::Kind::erase:
                crdt::erase(delta, piece.len);
                break;
            case Splices::Kind::insert:
                for (Lv lv = piece.lv; lv < piece.lv + piece.len; ++lv)
                    put(delta, slot_item(*slot_of(lv), lv));
                break;
        }
    }
    finish(delta);
    return delta;
}

MapDelta DocBody::map_delta_of(Container& c, LvSpan span) {
    const ContainerLog& log = log_of(c);
    MapDelta delta;
    for (const Run& run : log.runs_in(span)) {
        if (run.kind != RunKind::map_entry) continue;
        const auto* set = std::get_if<MapSet>(&log.op(run));
        const std::string& key = set != nullptr ? set->key : std::get<MapErase>(log.op(run)).key;
        const MapState::Entry& entry = *c.map->find(key);
        if (entry.winner.lv != run.lv) continue;
        if (set == nullptr) {
            // A key that was not there cannot go.
            const Past before(span.begin, {});
            const MapState::Write* write = map_write(entry, &before);
            if (write == nullptr || write->erases) continue;
        }
        MapChange change{key, std::nullopt};
        if (set != nullptr) change.item = slot_item(set->value, run.lv);
        delta.push_back(std::move(change));
    }
    std::sort(delta.begin(), delta.end(),
              [](const MapChange& a, const MapChange& b) { return a.key < b.key; });
    return delta;
}

std::vector<DocBody::Compared> DocBody::compare(Container& c, const Past& a, const Past& b) {
    Sequence& order = sequence(c);
    std::vector<Compared> stretches;
    order.move_to(history(c), a.heads());
    order.for_each([&](Lv lv, std::uint32_t len, bool visible) {
        stretches.push_back({lv, len, visible, false});
    });
    order.move_to(history(c), b.heads());
    std::vector<Compared> out;
    auto at = stretches.begin();
    order.for_each([&](Lv lv, std::uint32_t len, bool visible) {
        // Each stretch is one of those before, or a part of one.
        while (lv < at->lv || lv >= at->lv + at->len) ++at;
        if (at->in_a || visible) out.push_back({lv, len, at->in_a, visible});
    });
    return out;
}

ListDelta DocBody::list_diff(Container& c, const Past& a, const Past& b) {
    ListDelta delta;
    for (const Compared& part : compare(c, a, b)) {
        if (part.in_a && part.in_b) {
            crdt::retain(delta, part.len);
        } else if (part.in_a) {
            crdt::erase(delta, part.len);
        } else {
            for (Lv lv = part.lv; lv < part.lv + part.len; ++lv)
                put(delta, slot_item(*slot_of(lv), lv));
        }
    }
    finish(delta);
    return delta;
}

MapDelta DocBody::map_diff(Container& c, const Past& a, const Past& b) {
    MapDelta delta;
    for (const auto& [key, entry] : c.map->entries()) {
        const MapState::Write* before = map_write(entry, &a);
        const MapState::Write* after = map_write(entry, &b);
        if (before == after || after == nullptr) {
            if (before != after && !before->erases) delta.push_back({key, std::nullopt});
            continue;
        }
        const bool was_there = before != nullptr && !before->erases;
        if (after->erases) {
            if (was_there) delta.push_back({key, std::nullopt});
            continue;
        }
        Item item = slot_item(*slot_of(after->lv), after->lv);
        if (was_there && slot_item(*slot_of(before->lv), before->lv) == item) continue;
        delta.push_back({key, std::move(item)});
    }
    return delta;
}

Delta DocBody::delta_of(Container& c, LvSpan span, const Past& a, const Past& b) {
    switch (c.id.kind) {
        case ContainerKind::text:
            // Where style anchors lie among the characters, positions do not say it all.
            if (c.has_anchors) return rich_delta_of(c, span, a, b);
            return text_delta_of(c, span);
        case ContainerKind::list:
            return list_delta_of(c, span);
        case ContainerKind::map:
            return map_delta_of(c, span);
        case ContainerKind::movable_list:
            return movable_delta_of(c, span);
        case ContainerKind::counter:
            return counter_diff(c, a, b);
        case ContainerKind::tree:
            return tree_diff(c, a, b);
    }
    return MapDelta{};
}

Delta DocBody::delta_between(Container& c, const Past& a, const Past& b) {
    switch (c.id.kind) {
        case ContainerKind::text:
            return text_diff(c, a, b);
        case ContainerKind::list:
            return list_diff(c, a, b);
        case ContainerKind::map:
            return map_diff(c, a, b);
        case ContainerKind::movable_list:
            return movable_diff(c, a, b);
        case ContainerKind::counter:
            return counter_diff(c, a, b);
        case ContainerKind::tree:
            return tree_diff(c, a, b);
    }
    return MapDelta{};
}

Delta DocBody::delta_from_nothing(Container& c, const Past* at) {
    switch (c.id.kind) {
        case ContainerKind::text:
            return text_delta(c, at);
        case ContainerKind::list: {
            ListDelta delta;
            for (const Lv lv : list_atoms(c, at)) put(delta, slot_item(*slot_of(lv), lv));
            return delta;
        }
        case ContainerKind::map: {
            MapDelta delta;
            for (const auto& [key, entry] : c.map->entries()) {
                const MapState::Write* write = map_write(entry, at);
                if (write != nullptr && !write->erases)
                    delta.push_back({key, slot_item(*slot_of(write->lv), write->lv)});
            }
            return delta;
        }
        case ContainerKind::movable_list: {
            ListDelta delta;
            for (const MovableItem& item : movable_items(c, at))
                put(delta, slot_item(*slot_of(item.value), item.value));
            return delta;
        }
        case ContainerKind::counter:
            return CounterDelta{counter_value(c, at)};
        case ContainerKind::tree:
            return tree_from_nothing(c, at);
    }
    return MapDelta{};
}

Diff DocBody::diff_of(LvSpan span, Heads before) {
    const Past a(span.begin, std::move(before));
    const Past b(span.end, log_.heads());
    return Comparison(*this, a, b, span).diff();
}

}  // namespace quire::crdt

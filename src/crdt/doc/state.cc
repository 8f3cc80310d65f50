// How containers' state follows the log, and what it is worth as values.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

namespace {

constexpr int kMaxDepth = 512;

}  // namespace

void DocBody::flush(Container& c, Lv until, ContainerDiff* diff) {
    const ContainerLog& log = log_of(c);
    TextState* text = c.text.get();
    auto* text_diff = diff != nullptr ? std::get_if<TextDiff>(&diff->diff) : nullptr;
    auto* list_diff = diff != nullptr ? std::get_if<ListDiff>(&diff->diff) : nullptr;

    const auto insert = [&](const Run& run, Lv lv, std::uint32_t len, std::uint32_t pos) {
        if (run.kind == RunKind::anchor) {
            text->insert_anchor(pos);
        } else if (text != nullptr) {
            text->insert(pos, log.text(run, lv, len), len, text_diff);
        } else if (list_diff != nullptr) {
            ListSplice splice{pos, 0, {}, log_.atoms().id_of(lv)};
            for (std::uint32_t i = 0; i < len; ++i) splice.insert.push_back(log.value(run, lv + i));
            list_diff->push_back(std::move(splice));
        }
    };
    const auto erase = [&](std::uint32_t pos, std::uint32_t len) {
        if (text != nullptr) {
            text->erase(pos, len, text_diff);
        } else if (list_diff != nullptr) {
            list_diff->push_back({pos, len, {}, {}});
        }
    };

    // The last run may have grown since.
    if (c.flushed_run > 0 && log.runs()[c.flushed_run - 1].end() > c.flushed) --c.flushed_run;
    for (; c.flushed_run < log.runs().size(); ++c.flushed_run) {
        const Run& run = log.runs()[c.flushed_run];
        const Lv from = std::max(run.lv, c.flushed);
        const Lv to = std::min(run.end(), until);
        if (from >= to) {
            if (run.lv >= until) break;
            if (run.end() > until) break;
            continue;
        }
        const std::uint32_t done = from - run.lv;
        if (!run.in_sequence()) {
            // Carried; nothing to see.
        } else if (!run.linear) {
            for (; c.next_effect < c.effects.size() && c.effects[c.next_effect].lv < to;
                 ++c.next_effect) {
                const Effect& effect = c.effects[c.next_effect];
                if (effect.erase) {
                    erase(effect.pos, effect.len);
                } else {
                    insert(run, effect.lv, effect.len, effect.pos);
                }
            }
        } else if (run.is_insert()) {
            insert(run, from, to - from, run.pos + done);
        } else if (run.kind == RunKind::erase_forward) {
            erase(run.pos, to - from);
        } else {
            erase(run.pos - (to - 1 - run.lv), to - from);
        }
        c.flushed = to;
        if (to < run.end()) break;
    }
    if (c.next_effect > 0 && c.next_effect == c.effects.size()) {
        c.effects.clear();
        c.next_effect = 0;
    }
}

Sequence& DocBody::sequence(Container& c) {
    if (c.sequence == nullptr) c.sequence = std::make_unique<Sequence>();
    c.sequence->catch_up(history(c), log_.end());
    return *c.sequence;
}

const seq::Rope& DocBody::text(Container& c) {
    CHECK(c.text != nullptr);
    flush(c);
    return c.text->rope();
}

void DocBody::apply_map(Container& c, const Run& run) {
    const OpContent& op = log_of(c).op(run);
    const auto* set = std::get_if<MapSet>(&op);
    const std::string& key = set != nullptr ? set->key : std::get<MapErase>(op).key;
    c.map->apply(
        key, {run.lv, log_.graph().lamport(run.lv), log_.atoms().peer_of(run.lv), set == nullptr});
    ++epoch_;
}

void DocBody::collect_diff(LvSpan span, Diff& diff) {
    std::vector<ContainerIndex> touched;
    log_.for_each_owner(span, [&](ContainerIndex index, LvSpan) {
        if (std::find(touched.begin(), touched.end(), index) == touched.end())
            touched.push_back(index);
    });
    for (const ContainerIndex index : touched) {
        Container& c = containers_[index];
        if (c.id.kind == ContainerKind::text || c.id.kind == ContainerKind::list) {
            ContainerDiff part{c.id, TextDiff{}};
            if (c.id.kind == ContainerKind::list) part.diff = ListDiff{};
            flush(c, span.begin, nullptr);
            flush(c, span.end, &part);
            const bool empty =
                std::visit([](const auto& splices) { return splices.empty(); }, part.diff);
            if (!empty) diff.push_back(std::move(part));
        } else if (c.id.kind == ContainerKind::map) {
            MapDiff changes;
            const ContainerLog& log = log_of(c);
            for (std::size_t i = log.find(span.begin);
                 i < log.runs().size() && log.runs()[i].lv < span.end; ++i) {
                const Run& run = log.runs()[i];
                if (run.kind != RunKind::map_entry) continue;
                const auto* set = std::get_if<MapSet>(&log.op(run));
                const std::string& key =
                    set != nullptr ? set->key : std::get<MapErase>(log.op(run)).key;
                if (c.map->find(key)->winner.lv != run.lv) continue;
                changes.push_back({key,
                                   set != nullptr ? std::optional<Slot>(set->value) : std::nullopt,
                                   log_.atoms().id_of(run.lv)});
            }
            if (!changes.empty()) diff.push_back({c.id, std::move(changes)});
        }
    }
}

// --- values ---

Value DocBody::value(Container& c, int depth) {
    if (depth > kMaxDepth) return nullptr;
    const auto plain = [&](const Slot& slot, Lv lv) -> Value {
        if (const auto* value = std::get_if<Value>(&slot)) return *value;
        return value(containers_[open(child_id(lv, std::get<ContainerKind>(slot)))], depth + 1);
    };
    switch (c.id.kind) {
        case ContainerKind::text:
            return text(c).str();
        case ContainerKind::list: {
            List list;
            const ContainerLog& log = log_of(c);
            sequence(c).for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
                if (!visible) return;
                const Run* run = &log.runs()[log.find(lv)];
                for (Lv at = lv; at < lv + len; ++at) {
                    if (at >= run->end()) run = &log.runs()[log.find(at)];
                    list.push_back(plain(log.value(*run, at), at));
                }
            });
            return list;
        }
        case ContainerKind::map: {
            Map map;
            for (const auto& [key, entry] : c.map->entries()) {
                if (entry.winner.erases) continue;
                map.append(key, plain(*slot_of(entry.winner.lv), entry.winner.lv));
            }
            return map;
        }
        // Carried, and not understood yet.
        case ContainerKind::tree:
        case ContainerKind::movable_list:
            return List{};
        case ContainerKind::counter:
            return 0.0;
    }
    return nullptr;
}

Value DocBody::root_value() {
    Map roots;
    // open() may add containers while we go.
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        Container& c = containers_[i];
        if (c.id.is_root() && !log_of(c).empty()) roots.set(c.id.root_name(), value(c, 0));
    }
    return roots;
}

}  // namespace quire::crdt

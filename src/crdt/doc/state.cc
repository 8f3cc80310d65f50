// How containers' state follows the log.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/state/text_state.h"

namespace quire::crdt {

void DocBody::flush(Container& c, Lv until) {
    const ContainerLog& log = log_of(c);
    TextState* text = c.text.get();
    const auto insert = [&](const Run& run, Lv lv, std::uint32_t len, std::uint32_t pos) {
        if (text == nullptr) return;
        if (run.kind == RunKind::anchor) {
            apply_anchor(c, run, pos);
        } else {
            text->insert(pos, log.text(run, lv, len), len, log.reel(run));
        }
    };
    const auto erase = [&](std::uint32_t pos, std::uint32_t len) {
        if (text != nullptr) text->erase(pos, len);
    };

    // The last run may have grown since.
    if (c.flushed_run > 0 && log.runs()[c.flushed_run - 1].end() > c.flushed) --c.flushed_run;
    if (text != nullptr) {
        text->begin_edits(
            std::max(log.runs().size() - c.flushed_run, c.effects.size() - c.next_effect));
    }
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
    if (text != nullptr) text->end_edits();
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

}  // namespace quire::crdt

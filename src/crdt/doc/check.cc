#include "base/check.h"

#include <algorithm>

#include "crdt/doc/body.h"
#include "crdt/doc/movable_body.h"
#include "crdt/state/text_state.h"

namespace quire::crdt {

void DocBody::check_invariants() {
    log_.check_invariants();
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        Container& c = containers_[i];
        const ContainerLog& log = log_of(c);
        CHECK(c.index == i && log.kind() == c.id.kind);
        if (c.id.kind == ContainerKind::tree) check_tree(c);
        if (c.is_sequence()) check_sequence(c);
    }
    if (open_) return;
    // State is what a replay of history gives.
    Doc replay(peer_id_);
    const Result<Imported> imported = replay.import(export_spans({{0, log_.end()}}));
    CHECK(imported.has_value() && imported->pending.empty());
    CHECK(replay.version() == version() && replay.value() == root_value(nullptr));
}

void DocBody::check_sequence(Container& c) {
    const ContainerLog& log = log_of(c);
    // The kept sequence orders atoms as one that is built from the log.
    Sequence& kept = sequence(c);
    kept.check_invariants();
    Sequence fresh;
    fresh.catch_up(history(c), log_.end());
    fresh.check_invariants();
    std::vector<std::pair<Lv, bool>> kept_order;
    std::vector<std::pair<Lv, bool>> fresh_order;
    std::string text;
    kept.for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
        for (Lv at = lv; at < lv + len; ++at) {
            kept_order.emplace_back(at, visible);
            const Run& run = log.runs()[log.find(at)];
            if (visible && run.kind == RunKind::insert && c.text != nullptr)
                text += log.text(run, at, 1);
        }
    });
    fresh.for_each_last([&](Lv lv, std::uint32_t len, bool visible) {
        for (Lv at = lv; at < lv + len; ++at) fresh_order.emplace_back(at, visible);
    });
    CHECK(kept_order == fresh_order);
    CHECK(kept.visible() == c.size);
    if (c.movable != nullptr) {
        check_movable(c);
        return;
    }
    flush(c);
    if (c.text == nullptr) return;
    c.text->rope().check_invariants();
    CHECK(c.text->rope().str() == text);
    CHECK(c.text->rope().code_points().n + c.text->anchor_count() == c.size);
    // What each character gets from its styles is what a walk past all anchors gives it.
    if (c.text->styles() == nullptr) return;
    c.text->styles()->check_invariants();
    const Heads last = open_ ? Heads{log_.end() - 1} : log_.heads();
    CHECK(text_delta(c, nullptr) == text_delta_at(c, last));
}

}  // namespace quire::crdt

// Local ops: each goes into the log at the end; states follow when they are read.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/events.h"

namespace quire::crdt {

void DocBody::insert_values(Container& c, std::uint32_t at, std::vector<Slot> values) {
    begin();
    const auto len = static_cast<std::uint32_t>(values.size());
    log_of(c).insert_values(log_.end(), at, std::move(values), true, log_.joins());
    log_.append(c.index, len);
    c.size += len;
    ++epoch_;
}

void DocBody::erase(Container& c, std::uint32_t at, std::uint32_t len) {
    begin();
    log_of(c).erase_forward(log_.end(), at, len, log_.joins());
    log_.append(c.index, len);
    c.size -= len;
    if (c.id.kind != ContainerKind::text) {
        ++epoch_;
    } else if (const Run& run = log_of(c).runs().back();
               has_begun(len) && run.len > 1 && !c.has_anchors) {
        const bool backward = run.kind == RunKind::erase_backward;
        if (!backward || run.pos >= run.len)
            note_typing(c, kNowhereAt, backward ? run.pos - run.len : run.pos,
                        backward ? kNowhereAt : 0);
    }
}

void DocBody::write_map(Container& c, OpContent op) {
    begin();
    log_of(c).keep({.lv = log_.end()}, RunKind::map_entry, std::move(op));
    log_.append(c.index, 1);
    apply_map(c, log_of(c).runs().back());
}

Commit DocBody::commit(CommitOptions options) {
    CHECK(!committing_);
    if (open_) before_commit(options);
    const Counter end = log_.atoms().end_of(peer_);
    Commit commit{{peer_id_, end, end}, {}, std::move(options.origin)};
    if (!open_) return commit;
    commit.span.begin = log_.atoms().id_of(began_).counter;
    log_.finish_local(std::max(options.timestamp, log_.latest_timestamp(log_.parents())),
                      options.message, settings.merge_interval);
    open_ = false;
    typing_.end = kNoLv;
    const LvSpan span{began_, log_.end()};
    const bool wants_event = wants_events();
    if (options.want_diff || wants_event) commit.diff = diff_of(span, log_.parents());
    if (subscribers_ != nullptr) {
        Event event{Event::By::local, commit.origin, std::move(options.message), {}, {}, {}};
        if (wants_event) {
            event.from = frontiers_of(log_.parents());
            event.to = frontiers_of(log_.heads());
            event.diffs = commit.diff;
        }
        after_commit(span, std::move(event));
    }
    return commit;
}

}  // namespace quire::crdt

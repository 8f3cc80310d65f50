// The pending transaction: local ops go into the log at its end, and states follow when they are
// read. commit() ends it.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/events.h"
#include "crdt/doc/limits.h"

namespace quire::crdt {

void DocBody::open_transaction() {
    open_ = true;
    began_ = log_.end();
    log_.begin_local(peer_);
    typing_.until = kMaxSize;  // Nor can a container hold more than there are atoms.
}

void DocBody::note_erased(Container& c, SequenceBody& body, std::uint32_t len) {
    const Run& run = c.log->runs().back();
    if (!has_begun(len) || run.len == 1) return;
    const bool backward = run.kind == RunKind::erase_backward;
    if (!backward || run.pos >= run.len) {
        note_typing(c, body, kNowhereAt, backward ? run.pos - run.len : run.pos,
                    backward ? kNowhereAt : 0);
    }
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

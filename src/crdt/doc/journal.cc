// The pending transaction: local ops go into the log at its end, and states follow when they are
// read. DocBody::commit() ends it.
//
// Typing is noted only from a transaction's second edit on: the first one opened the transaction,
// and if every edit is committed by itself, there is no run to go on with.
#include "crdt/doc/journal.h"

#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/doc/events.h"
#include "crdt/doc/limits.h"

namespace quire::crdt {

Journal::Journal(const Journal& other, PeerId peer)
    : peer_id_(peer),
      log_(other.log_),
      peer_(log_.atoms().intern(peer)),
      began_(log_.end()),
      base_version_(other.base_version_),
      version_(other.version_),
      version_end_(other.version_end_),
      unplaced_(other.unplaced_) {
    CHECK(!other.open_);
}

void Journal::open_transaction() {
    open_ = true;
    began_ = log_.end();
    log_.begin_local(peer_);
    typing_.until = kMaxSize;  // Nor can a container hold more than there are atoms.
}

void Journal::note_erased(Container& c, SequenceBody& body, std::uint32_t len) {
    const Run& run = c.log->runs().back();
    // One deleted atom has no direction yet, so the next delete may still go either way.
    if (!has_begun(len) || run.len == 1) return;
    const bool backward = run.kind == RunKind::erase_backward;
    if (!backward || run.pos >= run.len) {
        note_typing(c, body, kNowhereAt, backward ? run.pos - run.len : run.pos,
                    backward ? kNowhereAt : 0);
    }
}

IdSpan Journal::pending_span() const {
    const Lv begin = committed_end();
    if (begin == log_.end()) return {};
    const OpId first = log_.atoms().id_of(begin);
    return {first.peer, first.counter, log_.atoms().id_of(log_.end() - 1).counter + 1};
}

LvSpan Journal::finish(std::int64_t timestamp, std::string_view message,
                       std::int64_t merge_interval) {
    // A clock that was set back must not make a change look older than what it follows.
    log_.finish_local(std::max(timestamp, log_.latest_timestamp(log_.parents())), message,
                      merge_interval);
    open_ = false;
    typing_.end = kNoLv;
    return {began_, log_.end()};
}

void Journal::reopen() {
    log_.reopen();
    open_ = true;
}

void Journal::begin_import() {
    CHECK(!open_);
    began_ = log_.end();
}

// Callbacks before the commit may still edit, so they come before the span is taken. The diff is
// worked out only if somebody wants it: it costs the ops of the transaction and more.
Commit DocBody::commit(CommitOptions options) {
    CHECK(!announcements_.is_committing());
    if (journal_.in_transaction()) announcements_.before_commit(journal_, options);
    const OpLog& log = journal_.log();
    const OpId next = journal_.next_id();
    Commit commit{{next.peer, next.counter, next.counter}, {}, std::move(options.origin)};
    if (!journal_.in_transaction()) return commit;
    const LvSpan span =
        journal_.finish(options.timestamp, options.message, settings.merge_interval);
    commit.span.begin = log.atoms().id_of(span.begin).counter;
    const bool wants_event = announcements_.wants_events();
    if (options.want_diff || wants_event) commit.diff = diff_of(*this, span, log.parents());
    if (announcements_.has_subscribers()) {
        Event event{Event::By::local, commit.origin, std::move(options.message), {}, {}, {}};
        if (wants_event) {
            event.from = journal_.frontiers_of(log.parents());
            event.to = journal_.frontiers_of(log.heads());
            event.diffs = commit.diff;
        }
        announcements_.after_commit(*this, span, std::move(event));
    }
    return commit;
}

}  // namespace quire::crdt

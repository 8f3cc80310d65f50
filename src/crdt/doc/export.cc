// Export: the log as changes, cut to what is asked for. Deletes made here find their start ids now.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"

namespace quire::crdt {

namespace {

// One run of deleted ids as an op; joined to the op before it where the ids go on.
void push_delete(std::vector<Op>& ops, const ContainerId& container, const Op& op) {
    const auto& erase = std::get<SequenceDelete>(op.content);
    if (!ops.empty() && ops.back().container == container) {
        auto* last = std::get_if<SequenceDelete>(&ops.back().content);
        if (last != nullptr && last->start.peer == erase.start.peer &&
            (last->len > 0) == (erase.len > 0)) {
            if (erase.len > 0 && last->start.counter + last->len == erase.start.counter) {
                last->len += erase.len;
                return;
            }
            if (erase.len < 0 && erase.start.counter - erase.len == last->start.counter) {
                last->start = erase.start;
                last->len += erase.len;
                return;
            }
        }
    }
    ops.push_back(op);
}

}  // namespace

std::vector<Op> DocBody::export_ops(LvSpan span) {
    std::vector<Op> ops;
    log_.for_each_owner(span, [&](ContainerIndex index, LvSpan owned) {
        Container& c = containers_[index];
        const ContainerLog& log = log_of(c);
        const AtomTable& atoms = log_.atoms();
        for (std::size_t i = log.find(owned.begin);
             i < log.runs().size() && log.runs()[i].lv < owned.end; ++i) {
            const Run& run = log.runs()[i];
            const Lv from = std::max(run.lv, owned.begin);
            const Lv to = std::min(run.end(), owned.end);
            const auto skip = static_cast<Counter>(from - run.lv);
            const auto stop = static_cast<Counter>(to - run.lv);
            Op op{c.id, atoms.id_of(from).counter, {}};
            if (run.kind == RunKind::insert && c.id.kind == ContainerKind::text) {
                op.content = TextInsert{run.pos + (from - run.lv),
                                        std::string(log.text(run, from, to - from))};
            } else if (run.kind == RunKind::insert) {
                ListInsert insert{run.pos + (from - run.lv), {}};
                for (Lv lv = from; lv < to; ++lv) insert.values.push_back(log.value(run, lv));
                op.content = std::move(insert);
            } else if (run.kind == RunKind::move) {
                op.content = ListMove{run.pos, run.payload, log_.element_id(run.extra)};
            } else if (run.kind == RunKind::element_set) {
                op.content = ListSet{log_.element_id(run.extra), log.value(run, run.lv)};
            } else if (run.kind == RunKind::increment) {
                op.content = CounterAdd{std::get<Value>(log.value(run, run.lv))};
            } else if (!run.is_erase()) {
                op.content = log.op(run);
                op.counter -= skip;
                op = slice(op, skip, stop);
            } else if (run.resolved) {
                const auto pos = static_cast<std::int32_t>(run.pos);
                const auto len = static_cast<std::int32_t>(run.len);
                const OpId start{atoms.peer(run.extra), static_cast<Counter>(run.payload)};
                op.content =
                    SequenceDelete{pos, run.kind == RunKind::erase_forward ? len : -len, start};
                op.counter -= skip;
                op = slice(op, skip, stop);
            } else {
                std::vector<Op> found;
                for (const Sequence::Target& target : sequence(c).targets(from, to - from)) {
                    for (Lv done = 0; done < target.len;) {
                        // The next stretch of ids that count up, from the end that the op deletes
                        // first.
                        Lv first = 0;
                        Lv n = 0;
                        if (target.reversed) {
                            const Lv last = target.first + target.len - 1 - done;
                            first = std::max(target.first, atoms.run_begin(last));
                            n = last - first + 1;
                        } else {
                            first = target.first + done;
                            n = std::min(atoms.run_end(first), target.first + target.len) - first;
                        }
                        const Lv lv = target.op + done;
                        const auto len = static_cast<std::int32_t>(n);
                        const Lv pos = target.reversed ? run.pos - (lv - run.lv) : run.pos;
                        push_delete(
                            found, c.id,
                            {c.id, atoms.id_of(lv).counter,
                             SequenceDelete{static_cast<std::int32_t>(pos),
                                            target.reversed ? -len : len, atoms.id_of(first)}});
                        done += n;
                    }
                }
                for (Op& part : found) {
                    auto& erase = std::get<SequenceDelete>(part.content);
                    if (erase.len == -1) erase.len = 1;
                    ops.push_back(std::move(part));
                }
                continue;
            }
            ops.push_back(std::move(op));
        }
    });
    return ops;
}

std::vector<Change> DocBody::export_spans(std::vector<LvSpan> spans) {
    std::sort(spans.begin(), spans.end(),
              [](const LvSpan& a, const LvSpan& b) { return a.begin < b.begin; });
    std::vector<Change> changes;
    const AtomTable& atoms = log_.atoms();
    for (LvSpan span : spans) {
        while (span.begin < span.end) {
            const std::size_t index = log_.change_of(span.begin);
            const ChangeInfo& info = log_.changes()[index];
            const Lv end = std::min(span.end, log_.change_end(index));
            Change change{atoms.id_of(span.begin),
                          {},
                          log_.graph().lamport(span.begin),
                          info.timestamp,
                          log_.message_of(info),
                          export_ops({span.begin, end})};
            if (span.begin == info.lv) {
                for (const Lv dep : log_.deps_of(info)) change.deps.push_back(atoms.id_of(dep));
            } else {
                change.deps.push_back({change.id.peer, change.id.counter - 1});
            }
            changes.push_back(std::move(change));
            span.begin = end;
        }
    }
    return changes;
}

std::vector<LvSpan> DocBody::spans_since(const VersionVector& from) const {
    std::vector<LvSpan> spans;
    for (PeerIndex peer = 0; peer < log_.atoms().peer_count(); ++peer) {
        const PeerId id = log_.atoms().peer(peer);
        const Counter begin = from.end_of(id);
        const Counter end = log_.atoms().end_of(peer);
        if (begin >= end) continue;
        const auto missing = log_.atoms().spans_of({id, begin, end});
        spans.insert(spans.end(), missing.begin(), missing.end());
    }
    return spans;
}

VersionVector& DocBody::version() {
    const Lv end = committed_end();
    while (version_end_ < end) {
        const Lv stop = std::min(end, log_.atoms().run_end(version_end_));
        const OpId last = log_.atoms().id_of(stop - 1);
        version_.extend(last.peer, last.counter + 1);
        version_end_ = stop;
    }
    return version_;
}

Frontiers DocBody::frontiers_of(std::span<const Lv> heads) const {
    Frontiers frontiers;
    for (const Lv head : heads) frontiers.push_back(log_.atoms().id_of(head));
    std::sort(frontiers.begin(), frontiers.end());
    return frontiers;
}

}  // namespace quire::crdt

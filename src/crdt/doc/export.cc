// A change of the log becomes a head, and each of its runs a row of the batch, which views the text
// that the log holds: O(runs), without a copy of content. Only deletes made here cost more. They were
// written by position alone, because local edits need no order; their start ids are asked from the
// container's order now, which may have to be built first.
#include "crdt/doc/export.h"

#include <algorithm>

#include "crdt/doc/order.h"

namespace quire::crdt {

namespace {

using Row = ChangeBatch::Row;
using Form = ChangeBatch::Form;

// One run of deleted ids as a row; joined to the row before it where the ids go on. Rows before
// `begin` are others'.
// Backwards the ids count down, so the joined row takes over the lower start.
void push_delete(std::vector<Row>& rows, std::size_t begin, const Row& row) {
    if (rows.size() > begin) {
        Row& last = rows.back();
        if (last.peer == row.peer && last.form == row.form) {
            const auto n = static_cast<std::uint32_t>(row.atoms);
            if (row.form == Form::erase_forward &&
                last.size + static_cast<std::uint32_t>(last.atoms) == row.size) {
                last.atoms += row.atoms;
                return;
            }
            if (row.form == Form::erase_backward && row.size + n == last.size) {
                last.size = row.size;
                last.atoms += row.atoms;
                return;
            }
        }
    }
    rows.push_back(row);
}

// Atoms [skip, skip + n) of a run of deletes whose start id is recorded.
Row part_of_delete(const Run& run, std::uint32_t skip, std::uint32_t n) {
    Row row;
    row.atoms = static_cast<Counter>(n);
    const bool forward = run.kind == RunKind::erase_forward;
    row.form = forward ? Form::erase_forward : Form::erase_backward;
    row.pos = forward ? run.pos : run.pos - skip;
    row.size = forward ? run.payload + skip : run.payload + (run.len - skip - n);
    return row;
}

// The deletes of a run that was made here.
void export_local_deletes(Site site, const Run& run, LvSpan span, Row row, ChangeBatch& out) {
    const AtomTable& atoms = site.document.oplog().atoms();
    const std::size_t begin = out.rows.size();
    for (const Sequence::Target& target : order_of(site).targets(span.begin, span.size())) {
        for (Lv done = 0; done < target.len;) {
            // The next stretch of ids that count up, from the end that the op deletes first.
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
            const OpId start = atoms.id_of(first);
            row.atoms = static_cast<Counter>(n);
            // A backspace deletes at falling positions; a delete forwards stays where it is.
            row.pos = target.reversed ? run.pos - (target.op + done - run.lv) : run.pos;
            row.size = static_cast<std::uint32_t>(start.counter);
            row.peer = out.peers.add(start.peer);
            row.form = target.reversed ? Form::erase_backward : Form::erase_forward;
            push_delete(out.rows, begin, row);
            done += n;
        }
    }
    for (std::size_t i = begin; i < out.rows.size(); ++i) {
        // One atom deleted has no direction.
        if (out.rows[i].atoms == 1) out.rows[i].form = Form::erase_forward;
    }
}

// Atoms [span) of a run, as a row or as several.
void export_run(Site site, const Run& run, LvSpan span, ChangeBatch& out) {
    const Container& c = site.container;
    const OpLog& oplog = site.document.oplog();
    const ContainerLog& log = *c.log;
    const std::uint32_t skip = span.begin - run.lv;
    Row row;
    row.container = out.containers.add(c.id);
    row.atoms = static_cast<Counter>(span.size());
    const auto keep = [&](OpContent content) {
        row.content = &out.contents.emplace_back(std::move(content));
    };
    switch (run.kind) {
        case RunKind::insert:
            if (c.id.kind == ContainerKind::text) {
                row = Row::of_text(row.container, run.pos + skip,
                                   log.text(run, span.begin, span.size()), row.atoms);
            } else {
                ListInsert insert{run.pos + skip, {}};
                insert.values.reserve(span.size());
                for (Lv lv = span.begin; lv < span.end; ++lv)
                    insert.values.push_back(log.value(run, lv));
                keep(std::move(insert));
            }
            break;
        case RunKind::erase_forward:
        case RunKind::erase_backward: {
            if (!run.resolved) return export_local_deletes(site, run, span, row, out);
            const std::uint32_t container = row.container;
            row = part_of_delete(run, skip, span.size());
            row.container = container;
            row.peer = out.peers.add(oplog.atoms().peer(run.extra));
            break;
        }
        case RunKind::move:
            keep(ListMove{run.pos, run.payload, oplog.element_id(run.extra)});
            break;
        case RunKind::element_set:
            keep(ListSet{oplog.element_id(run.extra), log.value(run, run.lv)});
            break;
        case RunKind::increment:
            keep(CounterAdd{std::get<Value>(log.value(run, run.lv))});
            break;
        case RunKind::anchor:
        case RunKind::map_entry:
        case RunKind::other:
            row.content = &log.op(run);  // One atom, always.
            break;
    }
    out.rows.push_back(row);
}

// Appends the rows of a span.
void export_rows(DocBody& body, LvSpan span, ChangeBatch& out) {
    body.oplog().for_each_owner(span, [&](ContainerIndex index, LvSpan owned) {
        Container& c = body.container(index);
        for (const Run& run : c.log->runs_in(owned)) {
            export_run({body, c}, run,
                       {std::max(run.lv, owned.begin), std::min(run.end(), owned.end)}, out);
        }
    });
}

}  // namespace

void export_spans(DocBody& body, std::vector<LvSpan>& spans, ChangeBatch& out) {
    const OpLog& log = body.oplog();
    const auto comes_first = [](const LvSpan& a, const LvSpan& b) { return a.begin < b.begin; };
    std::sort(spans.begin(), spans.end(), comes_first);
    const AtomTable& atoms = log.atoms();
    for (LvSpan span : spans) {
        span.begin = std::max(span.begin, log.base());
        while (span.begin < span.end) {
            const std::size_t index = log.change_of(span.begin);
            const ChangeInfo& info = log.changes()[index];
            const Lv end = std::min(span.end, log.change_end(index));
            const OpId id = atoms.id_of(span.begin);
            // A change that is cut in front goes on from its own atom before the cut, which is its
            // only dep.
            ChangeBatch::Head head{out.peers.add(id.peer),
                                   id.counter,
                                   static_cast<Counter>(end - span.begin),
                                   log.graph().lamport(span.begin),
                                   info.timestamp,
                                   log.message_of(info)};
            out.open(head);
            if (span.begin == info.lv) {
                for (const Lv lv : log.deps_of(info)) {
                    const OpId dep = atoms.id_of(lv);
                    out.deps.push_back({out.peers.add(dep.peer), dep.counter});
                }
            } else {
                out.deps.push_back({head.peer, id.counter - 1});
            }
            export_rows(body, {span.begin, end}, out);
            out.close(head);
            span.begin = end;
        }
    }
}

// A span may reach beyond what is known of its peer; the rest is left out.
void export_changes(DocBody& body, std::span<const IdSpan> spans, ChangeBatch& out) {
    const AtomTable& atoms = body.oplog().atoms();
    std::vector<LvSpan> wanted;
    for (const IdSpan& span : spans) {
        const Counter end = std::min(span.end, atoms.end_of(span.peer));
        if (span.begin < end) atoms.append_spans({span.peer, span.begin, end}, wanted);
    }
    export_spans(body, wanted, out);
}

ChangeBatch export_spans(DocBody& body, std::vector<LvSpan> spans) {
    ChangeBatch batch;
    export_spans(body, spans, batch);
    return batch;
}

std::vector<Op> export_ops(DocBody& body, std::span<const LvSpan> spans) {
    std::vector<Op> ops;
    ChangeBatch batch;
    for (const LvSpan& span : spans) {
        const std::size_t from = batch.rows.size();
        export_rows(body, span, batch);
        batch.append_ops(std::span(batch.rows).subspan(from),
                         body.oplog().atoms().id_of(span.begin).counter, ops);
    }
    return ops;
}

// Ops of the pending transaction are in the log, but no change holds them yet.
std::vector<LvSpan> spans_since(const Journal& journal, const VersionVector& from) {
    const AtomTable& atoms = journal.log().atoms();
    const IdSpan pending = journal.pending_span();
    std::vector<LvSpan> spans;
    for (PeerIndex peer = 0; peer < atoms.peer_count(); ++peer) {
        const PeerId id = atoms.peer(peer);
        const Counter begin = std::max(from.end_of(id), atoms.base_end_of(peer));
        const Counter end =
            pending.size() > 0 && pending.peer == id ? pending.begin : atoms.end_of(peer);
        if (begin >= end) continue;
        atoms.append_spans({id, begin, end}, spans);
    }
    return spans;
}

}  // namespace quire::crdt

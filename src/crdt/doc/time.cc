// Time: versions and what lies between them. A checkout is a view; nothing is rolled back.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"

namespace quire::crdt {

namespace {

std::vector<IdSpan> ids_of(const AtomTable& atoms, const std::vector<LvSpan>& spans) {
    std::vector<IdSpan> ids;
    for (const LvSpan& span : spans) {
        for (Lv lv = span.begin; lv < span.end;) {
            const Lv stop = std::min(span.end, atoms.run_end(lv));
            const OpId first = atoms.id_of(lv);
            const auto end = first.counter + static_cast<Counter>(stop - lv);
            ids.push_back({first.peer, first.counter, end});
            lv = stop;
        }
    }
    std::sort(ids.begin(), ids.end());
    std::vector<IdSpan> joined;
    for (const IdSpan& span : ids) {
        if (!joined.empty() && joined.back().peer == span.peer && joined.back().end == span.begin) {
            joined.back().end = span.end;
        } else {
            joined.push_back(span);
        }
    }
    return joined;
}

}  // namespace

void DocBody::go(std::optional<Past> version) {
    CHECK(!open_);
    const bool wants_event = wants_events();
    if (!wants_event) return show(std::move(version));
    const Heads from = shown_heads();
    const Past a = past_of(from);
    const Past b = version ? *version : past_of(log_.heads());
    show(std::move(version));
    if (from == b.heads()) return;
    tell({Event::By::checkout,
          "checkout",
          {},
          frontiers_of(from),
          frontiers_of(b.heads()),
          Comparison(*this, a, b).diff()});
}

Result<void> Doc::checkout(const Frontiers& version) {
    CHECK(!body_->in_transaction());
    TRY(load_history());
    Heads heads = TRY(body_->heads_of(version));
    if (heads != body_->shown_heads()) {
        body_->go(body_->past_of(std::move(heads)));
    } else if (heads == body_->oplog().heads()) {
        // Where nothing changes, the latest version is the latest again, as in Loro.
        body_->show(std::nullopt);
    }
    return {};
}

void Doc::checkout_to_latest() {
    CHECK(!body_->in_transaction());
    if (is_detached()) body_->go(std::nullopt);
}

void Doc::detach() {
    CHECK(!body_->in_transaction());
    CHECK(load_history());
    if (!is_detached()) body_->show(body_->past_of(body_->oplog().heads()));
}

void Doc::attach() {
    checkout_to_latest();
}

bool Doc::is_detached() const {
    return body_->at() != nullptr;
}

const VersionVector& Doc::oplog_version() const {
    return body_->version();
}
Frontiers Doc::oplog_frontiers() const {
    return body_->frontiers_of(body_->oplog().heads());
}

Doc Doc::fork(PeerId peer) const {
    CHECK(load_history());
    return *fork_at(frontiers(), peer);
}

Result<Doc> Doc::fork_at(const Frontiers& version, PeerId peer) const {
    CHECK(!body_->in_transaction());
    TRY(load_history());
    const Past past = body_->past_of(TRY(body_->heads_of(version)));
    Doc copy(peer);
    const auto imported = copy.import(body_->export_spans(past.spans()));
    CHECK(imported && imported->pending.empty());
    copy.set_merge_interval(body_->merge_interval);
    copy.set_text_styles(body_->text_styles());
    return copy;
}

Result<VersionVector> Doc::version_of(const Frontiers& version) const {
    TRY(load_history());
    return body_->version_of(body_->past_of(TRY(body_->heads_of(version))));
}

Result<Frontiers> Doc::minimal(const Frontiers& version) const {
    TRY(load_history());
    return body_->frontiers_of(TRY(body_->heads_of(version)));
}

Result<Doc::Between> Doc::spans_between(const Frontiers& from, const Frontiers& to) const {
    TRY(load_history());
    const Heads a = TRY(body_->heads_of(from));
    const Heads b = TRY(body_->heads_of(to));
    Difference difference;
    body_->oplog().graph().diff(a, b, difference);
    const AtomTable& atoms = body_->oplog().atoms();
    return Between{ids_of(atoms, difference.only_a), ids_of(atoms, difference.only_b)};
}

Result<void> Doc::travel_ancestors(const Frontiers& version,
                                   Function<bool(const ChangeHeader&)> take) const {
    TRY(load_history());
    const OpLog& log = body_->oplog();
    const AtomTable& atoms = log.atoms();
    // Changes by number; one is taken once all that follow it are.
    std::vector<std::size_t> queue;
    const auto push = [&](Lv lv) {
        queue.push_back(log.change_of(lv));
        std::push_heap(queue.begin(), queue.end());
    };
    for (const Lv head : TRY(body_->heads_of(version))) push(head);
    while (!queue.empty()) {
        const std::size_t index = queue.front();
        while (!queue.empty() && queue.front() == index) {
            std::pop_heap(queue.begin(), queue.end());
            queue.pop_back();
        }
        const ChangeInfo& info = log.changes()[index];
        const Lv end = std::min(log.change_end(index), body_->committed_end());
        ChangeHeader header{atoms.id_of(info.lv),
                            static_cast<Counter>(end - info.lv),
                            {},
                            log.graph().lamport(info.lv),
                            info.timestamp,
                            log.message_of(info)};
        for (const Lv dep : log.deps_of(info)) header.deps.push_back(atoms.id_of(dep));
        if (!take(header)) return {};
        for (const Lv parent : log.graph().parents_of(info.lv)) push(parent);
    }
    return {};
}

Result<Diff> Doc::diff(const Frontiers& from, const Frontiers& to) const {
    TRY(load_history());
    const Past a = body_->past_of(TRY(body_->heads_of(from)));
    const Past b = body_->past_of(TRY(body_->heads_of(to)));
    return Comparison(*body_, a, b).diff();
}

void Doc::set_merge_interval(std::int64_t seconds) {
    body_->merge_interval = seconds;
}

}  // namespace quire::crdt

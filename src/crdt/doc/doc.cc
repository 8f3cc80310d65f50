// Doc hands on to DocBody. A function that may need a history that was not read yet loads it first.
#include "crdt/doc/doc.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/export.h"
#include "crdt/doc/history.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/opening.h"
#include "crdt/doc/shallow.h"
#include "crdt/doc/values.h"
#include "crdt/doc/view.h"
#include "crdt/history/pending.h"

namespace quire::crdt {

DocBody::DocBody(PeerId peer) : journal_(peer), pending_(std::make_unique<Pending>()) {}
DocBody::~DocBody() = default;

bool DocBody::is_unfollowed() const {
    return pending_->empty() && !is_followed_ && !announcements_.wants_events();
}

Doc::Doc(PeerId peer) : body_(std::make_unique<DocBody>(peer)) {
    CHECK(peer != kNoPeer);
}
Doc::Doc(Doc&&) noexcept = default;
Doc& Doc::operator=(Doc&&) noexcept = default;
Doc::~Doc() = default;

std::size_t Doc::memory_bytes() const {
    constexpr std::size_t kChange = sizeof(ChangeInfo) + 64;  // And its part of the graph.
    std::size_t bytes = body_->oplog().changes().size() * kChange;
    for (ContainerIndex i = 0; i < body_->container_count(); ++i) bytes += body_->memory_bytes(i);
    return bytes;
}

void Doc::fit(Handle container) {
    CHECK(!body_->journal().in_transaction());
    body_->fit(static_cast<ContainerIndex>(container));
}

void Doc::fit() {
    CHECK(!body_->journal().in_transaction());
    for (ContainerIndex i = 0; i < body_->container_count(); ++i) body_->fit(i);
}

void Doc::fit_reopened() {
    constexpr std::size_t kMany = 64;
    if (body_->journal().in_transaction() || body_->oplog().logs().reopened_count() < kMany) return;
    // Those that cannot be packed any more are not tried again.
    for (const ContainerIndex index : body_->oplog().logs().take_reopened()) body_->fit(index);
}

DocSettings& Doc::settings() {
    return body_->settings;
}

PeerId Doc::peer() const {
    return body_->journal().peer_id();
}

void Doc::set_peer(PeerId peer) {
    CHECK(peer != kNoPeer && !body_->journal().in_transaction());
    body_->journal().set_peer(peer);
}

Handle Doc::open(const ContainerId& id) {
    return Handle{body_->open(id)};
}
const ContainerId& Doc::id_of(Handle container) const {
    return body_->container(container).id;
}
bool Doc::is_alive(Handle container) const {
    Container& c = body_->container(container);
    View* view = body_->view();
    return view == nullptr ? body_->is_alive(c) : body_->is_alive(c, view->reach);
}

// --- reading ---

Value Doc::value(Handle container) const {
    return value_of(*body_, body_->container(container), 0, body_->at());
}
Value Doc::value() const {
    // Those that cannot be told apart are left out where the history cannot be read.
    if (body_->doubts_roots()) static_cast<void>(history().load());
    return root_value(*body_, body_->at());
}

// --- local edits ---

IdSpan Doc::pending() const {
    return body_->journal().pending_span();
}
Commit Doc::commit(CommitOptions options) {
    Commit commit = body_->commit(std::move(options));
    pass_on_branch();
    return commit;
}

// --- history ---

const VersionVector& Doc::version() const {
    return shown_version(*body_);
}
Frontiers Doc::frontiers() const {
    return body_->journal().frontiers_of(shown_heads(*body_));
}

Result<Imported> Doc::import(ChangeBatch changes, ImportOptions options) {
    TRY(history().load());
    commit();
    if (whole_ != nullptr) return import_beside(changes, std::move(options));
    return body_->import(changes, std::move(options));
}

ChangeBatch Doc::changes_since(const VersionVector& from) const {
    CHECK(history().load(from));
    ChangeBatch batch;
    if (const ShallowStart* start = whole_of(*this).start().get()) {
        for (const Change& op : start->first_ops()) {
            if (!from.includes(op.id)) batch.append(op);
        }
    }
    std::vector<LvSpan> spans = spans_since(whole_of(*this).journal(), from);
    export_spans(whole_of(*this), spans, batch);
    return batch;
}

ChangeBatch Doc::changes_in(std::span<const IdSpan> spans) const {
    ChangeBatch batch;
    changes_in(spans, batch);
    return batch;
}

void Doc::changes_in(std::span<const IdSpan> spans, ChangeBatch& out) const {
    CHECK(!body_->journal().in_transaction());
    const bool since_opening = std::all_of(spans.begin(), spans.end(), [&](const IdSpan& span) {
        return history().is_loaded() || span.begin >= unread_->end.end_of(span.peer);
    });
    CHECK(since_opening || history().load());
    if (const ShallowStart* start = whole_of(*this).start().get()) {
        for (const Change& op : start->first_ops()) {
            const auto holds_op = [&](const IdSpan& span) {
                return span.peer == op.id.peer && span.begin <= op.id.counter &&
                       op.id.counter < span.end;
            };
            if (std::any_of(spans.begin(), spans.end(), holds_op)) out.append(op);
        }
    }
    export_changes(whole_of(*this), spans, out);
}

}  // namespace quire::crdt

// Doc hands on to DocBody. A function that may need a history that was not read yet loads it first.
#include "crdt/doc/doc.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/history.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/opening.h"
#include "crdt/doc/view.h"
#include "crdt/history/pending.h"

namespace quire::crdt {

DocBody::DocBody(PeerId peer)
    : peer_id_(peer), peer_(log_.atoms().intern(peer)), pending_(std::make_unique<Pending>()) {}
DocBody::~DocBody() = default;

bool DocBody::is_unfollowed() const {
    return pending_->empty() && !is_followed_ && !wants_events();
}

Doc::Doc(PeerId peer) : body_(std::make_unique<DocBody>(peer)) {
    CHECK(peer != kNoPeer);
}
Doc::Doc(Doc&&) noexcept = default;
Doc& Doc::operator=(Doc&&) noexcept = default;
Doc::~Doc() = default;

DocSettings& Doc::settings() {
    return body_->settings;
}

PeerId Doc::peer() const {
    return body_->peer_id();
}

void Doc::set_peer(PeerId peer) {
    CHECK(peer != kNoPeer && !body_->in_transaction());
    body_->set_peer(peer);
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
    return body_->value(body_->container(container), 0, body_->at());
}
Value Doc::value() const {
    // Those that cannot be told apart are left out where the history cannot be read.
    if (body_->doubts_roots()) static_cast<void>(history().load());
    return body_->root_value(body_->at());
}

// --- local edits ---

IdSpan Doc::pending() const {
    return body_->pending_span();
}
Commit Doc::commit(CommitOptions options) {
    return body_->commit(std::move(options));
}

// --- history ---

const VersionVector& Doc::version() const {
    return body_->shown_version();
}
Frontiers Doc::frontiers() const {
    return body_->frontiers_of(body_->shown_heads());
}

Result<Imported> Doc::import(ChangeBatch changes, ImportOptions options) {
    TRY(history().load());
    return body_->import(changes, std::move(options));
}

ChangeBatch Doc::changes_since(const VersionVector& from) const {
    CHECK(history().load(from));
    return body_->export_spans(body_->spans_since(from));
}

ChangeBatch Doc::changes_in(std::span<const IdSpan> spans) const {
    ChangeBatch batch;
    changes_in(spans, batch);
    return batch;
}

void Doc::changes_in(std::span<const IdSpan> spans, ChangeBatch& out) const {
    CHECK(!body_->in_transaction());
    const bool since_opening = std::all_of(spans.begin(), spans.end(), [&](const IdSpan& span) {
        return history().is_loaded() || span.begin >= unread_->end.end_of(span.peer);
    });
    CHECK(since_opening || history().load());
    body_->export_changes(spans, out);
}

void check_invariants(const Doc& doc) {
    CHECK(doc.history().load());
    body_of(doc).check_invariants();
}

}  // namespace quire::crdt

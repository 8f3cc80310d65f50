// Checkouts, forks and reverts. A checkout is a view of one version; nothing is rolled back. A
// revert makes edits.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/apply.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/doc/events.h"
#include "crdt/doc/history.h"

namespace quire::crdt {

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
    TRY(history().load());
    Heads heads = TRY(body_->heads_of(version));
    if (heads != body_->shown_heads()) {
        body_->go(body_->past_of(std::move(heads)));
    } else if (heads == body_->oplog().heads()) {
        // The document shows the latest version again if nothing changes, as in Loro.
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
    CHECK(history().load());
    if (!is_detached()) body_->show(body_->past_of(body_->oplog().heads()));
}

bool Doc::is_detached() const {
    return body_->at() != nullptr;
}

Doc Doc::fork(PeerId peer) const {
    CHECK(history().load());
    return *fork_at(frontiers(), peer);
}

Result<Doc> Doc::fork_at(const Frontiers& version, PeerId peer) const {
    CHECK(!body_->in_transaction());
    TRY(history().load());
    const Past past = body_->past_of(TRY(body_->heads_of(version)));
    Doc copy(peer);
    const auto imported = copy.import(body_->export_spans(past.spans()));
    CHECK(imported && imported->pending.empty());
    copy.settings() = body_->settings;
    return copy;
}

Result<void> revert_to(Doc& doc, const Frontiers& version) {
    CHECK(doc.pending().empty());
    if (doc.is_detached()) return DocBody::refuse_detached();
    return apply_diff(doc, TRY(doc.history().diff(doc.frontiers(), version)));
}

}  // namespace quire::crdt

// Checkouts, forks and reverts. A checkout is a view of one version; nothing is rolled back. A
// revert makes edits.
#include <algorithm>

#include "base/check.h"
#include "crdt/doc/apply.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/events.h"
#include "crdt/doc/export.h"
#include "crdt/doc/history.h"
#include "crdt/doc/shallow.h"
#include "crdt/doc/view.h"

namespace quire::crdt {

void go(DocBody& body, std::optional<Past> version) {
    Journal& journal = body.journal();
    CHECK(!journal.in_transaction());
    // Without listeners a checkout looks at no container.
    if (!body.announcements().wants_events()) return body.show(std::move(version));
    const Heads from = shown_heads(body);
    const Past a = journal.past_of(from);
    const Past b = version ? *version : journal.past_of(journal.log().heads());
    body.show(std::move(version));
    if (from == b.heads()) return;
    body.announcements().tell(body, {Event::By::checkout,
                                     "checkout",
                                     {},
                                     journal.frontiers_of(from),
                                     journal.frontiers_of(b.heads()),
                                     Comparison(body, a, b).diff()});
}

Result<void> Doc::checkout(const Frontiers& version) {
    TRY(history().load());
    commit();
    Heads heads = TRY(whole_of(*this).journal().heads_of(version));
    end_branch();
    if (heads != shown_heads(*body_)) {
        go(*body_, body_->journal().past_of(std::move(heads)));
    } else if (heads == body_->oplog().heads()) {
        // The document shows the latest version again if nothing changes, as in Loro.
        body_->show(std::nullopt);
    }
    if (!next_peer_ || body_->is_followed()) return {};
    const PeerId peer = next_peer_();
    body_->journal().set_peer(peer);
    if (is_detached()) begin_branch(peer);
    return {};
}

void Doc::checkout_to_latest() {
    commit();
    if (!is_detached()) return;
    end_branch();
    go(*body_, std::nullopt);
    if (next_peer_ && !body_->is_followed()) body_->journal().set_peer(next_peer_());
}

void Doc::detach() {
    CHECK(history().load());
    commit();
    if (is_detached()) return;
    body_->show(body_->journal().past_of(body_->oplog().heads()));
    if (next_peer_) begin_branch(peer());
}

bool Doc::is_detached() const {
    return whole_of(*this).at() != nullptr;
}

Doc Doc::fork(PeerId peer) const {
    CHECK(history().load());
    return *fork_at(*this, frontiers(), peer);
}

Result<Doc> fork_at(const Doc& doc, const Frontiers& version, PeerId peer) {
    CHECK(doc.pending().empty());
    TRY(doc.history().load());
    DocBody& body = whole_of(doc);
    Heads heads = TRY(body.journal().heads_of(version));
    Doc copy(peer);
    // The latest version is copied table by table; an earlier one is exported and imported again.
    if (heads == body.oplog().heads()) {
        copy.body_ = std::make_unique<DocBody>(body, peer);
        copy.settings() = body_of(doc).settings;
        return copy;
    }
    const Past past = body.journal().past_of(std::move(heads));
    if (body.start() != nullptr) CHECK(body_of(copy).begin_at(body.start()));
    const auto imported = copy.import(export_spans(body, past.spans()));
    CHECK(imported && imported->pending.empty());
    copy.settings() = body_of(doc).settings;
    return copy;
}

// Nothing is taken out of the history: the difference back to the version becomes new edits.
Result<void> revert_to(Doc& doc, const Frontiers& version) {
    CHECK(doc.pending().empty());
    if (body_of(doc).at() != nullptr) return DocBody::refuse_detached();
    return apply_diff(doc, TRY(doc.history().diff(doc.frontiers(), version)));
}

// --- detached editing ---

// Detached editing. While it is on, a detached document has two bodies: the whole one, which shows a
// version as a view, and a branch, which holds that version and nothing later. What is read and
// edited is the branch's; what is committed there goes into the whole one as an import. A checkout
// ends the branch and begins another, O(history of the version).

namespace {

// Opens the containers of one body in the other, which then have the same numbers in both. Only one
// of the two may have opened any since the last call.
void share_containers(DocBody& from, DocBody& to) {
    for (std::size_t i = to.container_count(); i < from.container_count(); ++i) {
        const auto index = static_cast<ContainerIndex>(i);
        CHECK(to.open(from.name_of(index)) == index);
    }
}

}  // namespace

void Doc::edit_detached(Function<PeerId()> next_peer) {
    if (!next_peer && !next_peer_) return;
    commit();
    const bool was_on = whole_ != nullptr;
    end_branch();
    next_peer_ = std::move(next_peer);
    if (is_detached() && next_peer_)
        begin_branch(was_on ? body_->journal().peer_id() : next_peer_());
}

void Doc::begin_branch(PeerId peer) {
    CHECK(is_detached() && whole_ == nullptr);
    if (body_->is_followed()) return;  // An undo history keeps the numbers of this body's atoms.
    std::unique_ptr<DocBody> branch = body_->emptied();
    if (body_->start() != nullptr) CHECK(branch->begin_at(body_->start()));
    ChangeBatch history = export_spans(*body_, body_->at()->spans());
    CHECK(branch->import(history, {}));
    branch->announcements().share(body_->announcements());
    body_->journal().set_peer(peer);
    branch->journal().set_peer(peer);
    whole_ = std::exchange(body_, std::move(branch));
}

void Doc::pass_on_branch() {
    if (whole_ == nullptr) return;
    share_containers(*body_, *whole_);
    Journal& whole = whole_->journal();
    std::vector<LvSpan> spans = spans_since(body_->journal(), whole.version());
    if (spans.empty()) return;
    ChangeBatch changes = export_spans(*body_, std::move(spans));
    CHECK(whole_->import(changes, {}));
    share_containers(*whole_, *body_);
    const Frontiers heads = body_->journal().frontiers_of(body_->oplog().heads());
    whole_->show(whole.past_of(whole.heads_of(heads).value()));
}

void Doc::end_branch() {
    pass_on_branch();
    if (whole_ == nullptr) return;
    whole_->announcements().share(body_->announcements());
    whole_->settings = body_->settings;
    whole_->journal().set_peer(body_->journal().peer_id());
    // Somebody may be at an event of the branch.
    ended_ = std::exchange(body_, std::move(whole_));
}

Result<Imported> Doc::import_beside(ChangeBatch& changes, ImportOptions options) {
    share_containers(*body_, *whole_);
    Result<Imported> imported = whole_->import(changes, std::move(options));
    share_containers(*whole_, *body_);
    return imported;
}

}  // namespace quire::crdt

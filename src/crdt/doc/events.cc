// Events are told after an act is complete, from a queue (subscribers.h), so that callbacks never
// run inside one another. What an event holds is computed only where somebody subscribed: its
// diffs, and the path to each container that changed.
#include "crdt/doc/events.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/export.h"
#include "crdt/doc/subscribers.h"
#include "crdt/ids/mergeable.h"

namespace quire::crdt {

// --- subscriptions ---

Subscription& Subscription::operator=(Subscription&& other) noexcept {
    if (this == &other) return *this;
    unsubscribe();
    from_ = std::exchange(other.from_, {});
    token_ = other.token_;
    return *this;
}

void Subscription::unsubscribe() {
    if (const auto from = from_.lock()) from->remove(token_);
    from_.reset();
}

std::uint64_t Subscribers::add(Callback callback) {
    callbacks_.emplace(next_, std::make_shared<Callback>(std::move(callback)));
    return next_++;
}

void Subscribers::tell(PreCommit& commit) {
    for_each<OnPreCommit>([&](OnPreCommit& callback) { callback(commit); });
}

Subscription subscribe_root(Doc& doc, OnEvent callback) {
    Subscribers::EventCallback all{std::nullopt, std::move(callback)};
    return {body_of(doc).announcements().subscribers(),
            body_of(doc).announcements().subscribers()->add(std::move(all))};
}

Subscription subscribe(Doc& doc, Handle container, OnEvent callback) {
    Subscribers::EventCallback one{static_cast<ContainerIndex>(container), std::move(callback)};
    return {body_of(doc).announcements().subscribers(),
            body_of(doc).announcements().subscribers()->add(std::move(one))};
}

Subscription subscribe_local_updates(Doc& doc, OnLocalUpdate callback) {
    return {body_of(doc).announcements().subscribers(),
            body_of(doc).announcements().subscribers()->add(std::move(callback))};
}

Subscription subscribe_pre_commit(Doc& doc, OnPreCommit callback) {
    return {body_of(doc).announcements().subscribers(),
            body_of(doc).announcements().subscribers()->add(std::move(callback))};
}

// --- what there is to tell ---

namespace {

// The holders are those that made the container, so the answer holds for dead ones as well.
bool is_below(DocBody& body, const ContainerId& id, ContainerIndex only) {
    ContainerIndex at = body.open(id);
    while (at != only) {
        const std::optional<DocBody::Holder> holder = body.holder_of(body.container(at).id);
        if (!holder) return false;
        at = holder->index;
    }
    return true;
}

auto below_in(DocBody& body) {
    return [&body](const ContainerId& id, ContainerIndex only) { return is_below(body, id, only); };
}

// The path to a container that readers see.
std::vector<PathStep> path_of(DocBody& body, const Container& c) {
    std::vector<PathStep> path;
    const Container* at = &c;
    while (const std::optional<DocBody::Holder> holder = body.holder_of(at->id)) {
        Container& parent = body.container(holder->index);
        if (holder->creator == kNoLv) {
            path.emplace_back(mergeable_key(at->id).value());
        } else {
            path.push_back(visit(parent, [&](auto& inside) {
                return inside.step_to({body, parent}, holder->creator);
            }));
        }
        at = &parent;
    }
    path.emplace_back(at->id.root_name());
    std::reverse(path.begin(), path.end());
    return path;
}

void find_paths(DocBody& body, Diff& diff) {
    for (ContainerDiff& part : diff)
        part.path = path_of(body, body.container(body.open(part.container)));
}

}  // namespace

const std::shared_ptr<Subscribers>& Announcements::subscribers() {
    if (subscribers_ == nullptr) subscribers_ = std::make_shared<Subscribers>();
    return subscribers_;
}

bool Announcements::wants_events() const {
    return subscribers_ != nullptr && subscribers_->any<Subscribers::EventCallback>();
}

void Announcements::before_commit(const Journal& journal, CommitOptions& options) {
    if (subscribers_ == nullptr || !subscribers_->any<OnPreCommit>()) return;
    PreCommit commit{journal.peer_id(), journal.log().atoms().id_of(journal.began()).counter,
                     options.origin, std::move(options.message), options.timestamp};
    CHECK(!std::exchange(committing_, true));  // A callback must not commit.
    subscribers_->tell(commit);
    committing_ = false;
    options.message = std::move(commit.message);
    options.timestamp = commit.timestamp;
}

void Announcements::after_commit(DocBody& body, LvSpan span, Event event) {
    if (subscribers_ == nullptr) return;
    const std::shared_ptr<Subscribers> subscribers = subscribers_;
    // The changes are exported before the first callback runs: one may edit, and a batch views the
    // log.
    std::vector<Change> changes;
    const bool wants_changes = subscribers->any<OnLocalUpdate>();
    if (wants_changes) changes = export_spans(body, {span}).changes();
    if (wants_events()) tell(body, std::move(event));
    if (wants_changes) subscribers->tell(std::move(changes), below_in(body));
}

void Announcements::tell(DocBody& body, Event event) {
    find_paths(body, event.diffs);
    const std::shared_ptr<Subscribers> subscribers = subscribers_;
    subscribers->tell(std::move(event), below_in(body));
}

}  // namespace quire::crdt

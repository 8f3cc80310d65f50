// Events are told after an act is complete, from a queue (subscribers.h), so that callbacks never
// run inside one another. What an event holds is computed only where somebody subscribed: its
// diffs, and the path to each container that changed.
#include "crdt/doc/events.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/doc/comparison.h"
#include "crdt/doc/subscribers.h"

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
    return {body_of(doc).subscribers(), body_of(doc).subscribers()->add(std::move(all))};
}

Subscription subscribe(Doc& doc, Handle container, OnEvent callback) {
    Subscribers::EventCallback one{static_cast<ContainerIndex>(container), std::move(callback)};
    return {body_of(doc).subscribers(), body_of(doc).subscribers()->add(std::move(one))};
}

Subscription subscribe_local_updates(Doc& doc, OnLocalUpdate callback) {
    return {body_of(doc).subscribers(), body_of(doc).subscribers()->add(std::move(callback))};
}

Subscription subscribe_pre_commit(Doc& doc, OnPreCommit callback) {
    return {body_of(doc).subscribers(), body_of(doc).subscribers()->add(std::move(callback))};
}

// --- what there is to tell ---

const std::shared_ptr<Subscribers>& DocBody::subscribers() {
    if (subscribers_ == nullptr) subscribers_ = std::make_shared<Subscribers>();
    return subscribers_;
}

bool DocBody::wants_events() const {
    return subscribers_ != nullptr && subscribers_->any<Subscribers::EventCallback>();
}

void DocBody::before_commit(CommitOptions& options) {
    if (subscribers_ == nullptr || !subscribers_->any<OnPreCommit>()) return;
    PreCommit commit{peer_id_, log_.atoms().id_of(began_).counter, options.origin,
                     std::move(options.message), options.timestamp};
    CHECK(!std::exchange(committing_, true));  // A callback must not commit.
    subscribers_->tell(commit);
    committing_ = false;
    options.message = std::move(commit.message);
    options.timestamp = commit.timestamp;
}

void DocBody::after_commit(LvSpan span, Event event) {
    if (subscribers_ == nullptr) return;
    const std::shared_ptr<Subscribers> subscribers = subscribers_;
    std::vector<Change> changes;
    const bool wants_changes = subscribers->any<OnLocalUpdate>();
    if (wants_changes) changes = export_spans({span}).changes();
    const bool wants_event = wants_events();
    if (wants_event) find_paths(event.diffs);
    const auto is_below = [this](const ContainerId& id, ContainerIndex only) {
        return this->is_below(id, only);
    };
    if (wants_event) subscribers->tell(std::move(event), is_below);
    if (wants_changes) subscribers->tell(std::move(changes), is_below);
}

void DocBody::tell(Event event) {
    find_paths(event.diffs);
    const std::shared_ptr<Subscribers> subscribers = subscribers_;
    subscribers->tell(std::move(event), [this](const ContainerId& id, ContainerIndex only) {
        return this->is_below(id, only);
    });
}

bool DocBody::is_below(const ContainerId& id, ContainerIndex only) {
    ContainerIndex at = open(id);
    while (at != only) {
        const Container& c = containers_[at];
        if (c.id.is_root()) return false;
        at = log_.container_of(*log_.atoms().lv_of(c.id.op()));
    }
    return true;
}

void DocBody::find_paths(Diff& diff) {
    for (ContainerDiff& part : diff) part.path = path_of(containers_[open(part.container)]);
}

std::vector<PathStep> DocBody::path_of(Container& c) {
    std::vector<PathStep> path;
    const Container* at = &c;
    while (!at->id.is_root()) {
        const Lv creator = *log_.atoms().lv_of(at->id.op());
        Container& parent = containers_[log_.container_of(creator)];
        path.push_back(visit(parent, [&](auto& body) {
            return body.step_to({*this, parent}, creator);
        }));
        at = &parent;
    }
    path.emplace_back(at->id.root_name());
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace quire::crdt

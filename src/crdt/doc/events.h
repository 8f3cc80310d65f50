// Events: what a document tells its subscribers once a commit, an import or a checkout is done.
// A document without subscribers pays nothing.
//
// Callbacks run one after another on the caller's thread, after the act that they tell of, and
// never one inside another: what a callback does to the document is told when all have heard what
// came before. They may subscribe and unsubscribe. They must not destroy the document.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/function.h"
#include "crdt/doc/container_view.h"
#include "crdt/ids/diff.h"

namespace quire::crdt {

struct Event {
    enum class By { local, import, checkout };
    By by = By::local;
    std::string origin;   // Given to the commit or import; "checkout" for a checkout.
    std::string message;  // The commit's; else empty.
    Frontiers from;
    Frontiers to;
    // The diffs that lead from `from` to `to`, with paths as they are at `to`. Empty if nothing
    // changed that can be seen.
    Diff diffs;
};

// A commit about to be made. Callbacks may change `message` and `timestamp`, and may still edit the
// document; they must not commit.
struct PreCommit {
    PeerId peer = 0;
    Counter begin = 0;
    std::string origin;
    std::string message;
    std::int64_t timestamp = 0;
};

using OnEvent = Function<void(const Event&)>;
using OnLocalUpdate = Function<void(const std::vector<Change>&)>;
using OnPreCommit = Function<void(PreCommit&)>;

class Subscribers;

// The callback is called as long as this lives. May outlive the document.
class [[nodiscard]] Subscription {
public:
    Subscription() = default;
    Subscription(std::weak_ptr<Subscribers> from, std::uint64_t token)
        : from_(std::move(from)), token_(token) {}
    Subscription(Subscription&& other) noexcept
        : from_(std::move(other.from_)), token_(other.token_) {
        other.from_.reset();
    }
    Subscription& operator=(Subscription&& other) noexcept;
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription() { unsubscribe(); }
    void unsubscribe();

private:
    std::weak_ptr<Subscribers> from_;
    std::uint64_t token_ = 0;
};

// Every commit, import and checkout that leads to another version.
Subscription subscribe_root(Doc& doc, OnEvent callback);
// Those that change the container or what is below it, with those diffs only.
Subscription subscribe(Doc& doc, Handle container, OnEvent callback);
// The changes of every commit, as Doc::changes_in() returns them.
Subscription subscribe_local_updates(Doc& doc, OnLocalUpdate callback);
// Called before every commit that holds something.
Subscription subscribe_pre_commit(Doc& doc, OnPreCommit callback);

}  // namespace quire::crdt

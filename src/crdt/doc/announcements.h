// Announcements: who asked to be told of a document's commits, imports and checkouts, and telling
// them.
//
// A document that nobody subscribed to pays a null pointer. What an event holds is worked out by
// the document only where wants_events() says so.
#pragma once

#include <memory>

#include "crdt/doc/transaction.h"
#include "crdt/history/atoms.h"

namespace quire::crdt {

class DocBody;
class Journal;
class Subscribers;
struct Event;

class Announcements {
public:
    // Made at the first call.
    const std::shared_ptr<Subscribers>& subscribers();
    bool has_subscribers() const { return subscribers_ != nullptr; }
    // From now on this tells the subscribers of another document's body, too.
    void share(const Announcements& other) { subscribers_ = other.subscribers_; }
    bool wants_events() const;

    // True while subscribers hear of a commit that is about to be made.
    bool is_committing() const { return committing_; }
    // Subscribers may change the commit's message and timestamp, and may still edit.
    void before_commit(const Journal& journal, CommitOptions& options);
    // The span was committed; the event holds its diffs if wants_events().
    void after_commit(DocBody& body, LvSpan span, Event event);
    // Requires wants_events().
    void tell(DocBody& body, Event event);

private:
    std::shared_ptr<Subscribers> subscribers_;
    bool committing_ = false;
};

}  // namespace quire::crdt

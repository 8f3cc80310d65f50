// DocBody: the inside of a Doc. History takes ops in; containers hold what they amount to, and lag
// behind until they are read.
//
// DocBody keeps the containers, and one part for each thing that belongs to the whole document:
//
//     journal.h         the log, the peer, the pending transaction; versions
//     announcements.h   who is told of commits and imports
//     view.h            the version that readers of a detached document see
//
// import.cc takes others' changes in; export.h writes changes out; values.h and comparison.h read.
// The bodies of containers (container.h) hold everything that depends on a container's kind.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "base/key_index.h"
#include "crdt/doc/announcements.h"
#include "crdt/doc/container.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/journal.h"
#include "crdt/history/past.h"

namespace quire::crdt {

class Pending;
class ShallowStart;
struct View;

// Something that a room above keeps with a document. Undo keeps which atoms stand for which.
struct Companion {
    Companion() = default;
    Companion(const Companion&) = delete;
    Companion& operator=(const Companion&) = delete;
    virtual ~Companion() = default;
};

class DocBody {
public:
    explicit DocBody(PeerId peer);
    // A copy of all that is known and committed, for another peer: it is attached, and nobody follows
    // it. CHECKs that no transaction is pending. O(history), most of it copying memory; text is
    // shared, and merged texts of the original follow their logs. (containers.cc)
    DocBody(DocBody& other, PeerId peer);
    DocBody(const DocBody&) = delete;
    DocBody& operator=(const DocBody&) = delete;
    ~DocBody();

    Journal& journal() { return journal_; }
    const Journal& journal() const { return journal_; }
    OpLog& oplog() { return journal_.log(); }
    const OpLog& oplog() const { return journal_.log(); }
    Announcements& announcements() { return announcements_; }
    // The changes that wait for others.
    Pending& parked() { return *pending_; }
    // The companion that a room above keeps with the document; null until it puts one there.
    std::unique_ptr<Companion>& companion() { return companion_; }

    // --- containers (containers.cc) ---
    ContainerIndex open(const ContainerId& id);
    bool knows(const ContainerId& id) const { return index_.contains(id); }
    std::size_t container_count() const { return containers_.size(); }
    const ContainerId& name_of(ContainerIndex index) const { return containers_[index].name; }
    // O(1), or O(ops of the container) where it is packed. Stays in place until it is packed.
    Container& container(Handle handle) { return container(static_cast<ContainerIndex>(handle)); }
    Container& container(ContainerIndex index) {
        Place& place = containers_[index];
        return place.container != nullptr ? *place.container : unpack(index);
    }
    // Shrinks a container to what it needs while nobody looks at it: it is packed, where its ops give
    // all of its state again. It must not be referred to. O(ops).
    void fit(ContainerIndex index);
    std::size_t memory_bytes(ContainerIndex index) const;
    // Returns true if the container can be reached from a root, now or at a version. (alive.cc)
    bool is_alive(Container& c);
    bool is_alive(Container& c, Reach& reach);
    // Returns true if the container shows or could show again; see Inspection::may_show().
    bool may_show(Container& c);
    // The container that holds this one or once did, and the atom that put it there. None for a
    // root and for a child that no op has made. A mergeable child stands in the entry of its name,
    // whichever atom wrote that: kNoLv.
    struct Holder {
        ContainerIndex index;
        Lv creator;
    };
    std::optional<Holder> holder_of(const ContainerId& id);
    // A child container was made or removed, or may have been.
    void outdate_reach() { ++epoch_; }
    // The container, if local edits of this kind may go there; else null, and refuse() says why.
    Container* editable(Handle handle, ContainerKind kind) {
        if (view_ != nullptr || !journal_.has_room()) return nullptr;
        // Most edits go where the edit before went.
        if (pen_ != nullptr && Handle{pen_->index} == handle && pen_->id.kind == kind) return pen_;
        return find_editable(handle, kind);
    }
    Failure refuse(Handle handle, ContainerKind kind);
    static Failure refuse_detached();
    // Ops were taken back: a root may be empty again, and have a name that edits may not use.
    void lift_pen() { pen_ = nullptr; }
    // The slot that an atom put into its list or map entry; null when it put none.
    const Slot* slot_of(Lv lv) const;
    ContainerId child_id(Lv lv, ContainerKind kind) const {
        return ContainerId::normal(oplog().atoms().id_of(lv), kind);
    }

    // --- the version that readers see (view.h) ---
    // Null is the latest.
    const Past* at() const { return at_; }
    View* view() { return view_.get(); }
    // Shows readers this version from now on; none: the latest, whatever comes.
    void show(std::optional<Past> version);

    // --- changes ---
    Commit commit(CommitOptions options);  // journal.cc
    // Gives the batch back as it was. (import.cc)
    Result<Imported> import(ChangeBatch& batch, ImportOptions options);

    // --- a base (opening.cc) ---
    // An empty document with the same handles and settings.
    std::unique_ptr<DocBody> emptied() const;
    // This document with the history in front of what was done here. A transaction that is pending
    // still is. `start` of a shallow history, else null. Errors: as in open_shallow().
    Result<std::unique_ptr<DocBody>> with_history(std::shared_ptr<const ShallowStart> start,
                                                  ChangeBatch history, const VersionVector& end,
                                                  const Frontiers& heads);
    // Makes the state at a shallow history's start the base of this document, which must be new.
    Result<void> begin_at(std::shared_ptr<const ShallowStart> start);
    // The start of the history; null if it is whole, or was not read yet.
    const std::shared_ptr<const ShallowStart>& start() const { return start_; }
    // Only the history can tell which roots were ever written.
    void doubt_roots() { doubts_roots_ = true; }
    bool doubts_roots() const { return doubts_roots_; }
    // From now on a room above keeps atoms by their numbers.
    void follow_numbers() { is_followed_ = true; }
    bool is_followed() const { return is_followed_; }
    bool is_unfollowed() const;

    DocSettings settings;

private:
    // A container of the document. Its object is null while its log is packed (OpLog::pack()).
    struct Place {
        ContainerId name;
        std::unique_ptr<Container> container;
    };
    Container& unpack(ContainerIndex index);
    Container* find_editable(Handle handle, ContainerKind kind);
    // Returns true if the atom made a child of the container's kind.
    bool made_by(const ContainerId& id, Lv creator);
    template <class Known, class Holds, class Note>
    bool reaches_root(Container& c, Known known, Holds holds, Note note);
    Journal journal_;
    std::deque<Place> containers_;  // A deque: names stay in place.
    KeyIndex<Place, ContainerId, &Place::name> index_{containers_};
    std::unique_ptr<Pending> pending_;  // Never null.
    Container* pen_ = nullptr;          // A root that is editable unless the document is not.

    const Past* at_ = nullptr;    // The version of the view.
    std::unique_ptr<View> view_;  // Null while the document is attached.
    std::unique_ptr<Companion> companion_;
    Announcements announcements_;
    std::shared_ptr<const ShallowStart> start_;
    bool is_followed_ = false;
    bool doubts_roots_ = false;

    std::uint64_t epoch_ = 1;  // Grows with each op that can make or end a child container.
};

inline DocBody& body_of(const Doc& doc) {
    return *doc.body_;
}
// The body with all of the history; another than body_of() while a detached document is edited.
inline DocBody& whole_of(const Doc& doc) {
    return doc.whole_ != nullptr ? *doc.whole_ : *doc.body_;
}
inline DocBody& ContainerView::body() const {
    return body_of(*doc_);
}
inline Container& ContainerView::container() const {
    return body().container(handle_);
}
inline Site ContainerView::site() const {
    return {body(), container()};
}

}  // namespace quire::crdt

// Inspection: everything beyond its values that a copy of a document's state has to hold, after
// every op. For codecs and tests: `Inspection(doc).registers(map)`.
//
// Its answers point into the document, until the document changes. Every function CHECKs that
// the history can be read (history.h), unless the inspection is without_history().
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "crdt/doc/container_view.h"
#include "crdt/ids/change.h"
#include "crdt/merge/style.h"

namespace quire::crdt {

class Inspection {
public:
    explicit Inspection(const Doc& doc) : doc_(&doc) {}
    // Leaves a history that was not read where it is (opening.h). The containers that the opened state
    // shows, and those made since, are told as with the history. Others are unknown, and of a map's
    // writers before the opening only the peer is known, unless they made a child.
    static Inspection without_history(const Doc& doc);

    // The containers that ops were written to, dead ones included, in the order in which they
    // became known.
    std::vector<Handle> written() const;
    // The roots of Doc::value(), those of the version that is checked out.
    std::vector<Handle> shown_roots() const;
    // The containers that ops were written to since the document was opened at a state; in a shallow
    // document since its start. O(stretches of ops since then).
    std::vector<Handle> written_since_opening() const;
    // The container that holds the atom that made this one; none for a root, and for a container
    // that no op made.
    std::optional<ContainerId> parent_of(const ContainerId& id) const;

    // Returns true if the container can be reached from a root, or could be after an edit of what
    // can be: erased nodes of a tree can be put back, and so can mergeable children.
    bool may_show(const ContainerId& id) const;

    // A stretch of what a text or list shows, whose ids and lamports both count up.
    struct Stretch {
        OpId first;
        Lamport lamport = 0;
        Counter size = 0;
        std::string_view text;              // In a text.
        std::span<const Slot> values;       // In a list.
        const OpContent* style = nullptr;   // A style's start or end, of size 1, and nothing else.
        const StyleStart* ended = nullptr;  // At an end: its style, whose start may be deleted.
    };
    std::vector<Stretch> stretches(Handle sequence) const;

    // The last write of each key that was ever written, sorted by key.
    struct Register {
        std::string_view key;
        const Slot* value = nullptr;  // Null where the key was erased.
        OpId writer;
        Lamport lamport = 0;
    };
    std::vector<Register> registers(Handle map) const;

    // The slots of a movable list in order, including those that show nothing.
    struct MovableSlot {
        OpId atom;
        Lamport lamport = 0;
        // Null for a slot that shows nothing; then the members below say nothing.
        const Slot* shows = nullptr;
        ElementId element;
        OpId written_by;  // The atom that gave the element its value.
        Lamport written_at = 0;
    };
    std::vector<MovableSlot> movable_slots(Handle list) const;
    // The elements that were made in a movable list and stand in no slot, in the order in which they came. O(elements).
    std::vector<ElementId> hidden_elements(Handle list) const;

    // Each node that stands in the tree or was erased with what it stood below, in no order, and
    // the move that decides where it stands. Nodes below one that nobody made are left out.
    struct TreePlace {
        OpId id;
        bool erased = false;         // The node itself; then it has no parent.
        std::optional<OpId> parent;  // None: a root of the tree.
        OpId last_move;
        Lamport lamport = 0;  // That move's.
        Bytes position;       // Empty where the node was erased.
    };
    std::vector<TreePlace> tree_places(Handle tree) const;
    // The container whose op the name of a node is, unless it is an op of this tree or nobody's.
    std::optional<ContainerId> foreign_maker(Handle tree, OpId node) const;

    double counter_total(Handle counter) const;

private:
    DocBody& body() const;

    const Doc* doc_;
    bool reads_history_ = true;
};

}  // namespace quire::crdt

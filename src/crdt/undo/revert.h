// revert(): new local ops that take back what spans of history did, as far as it still shows.
//
// History is never rewritten: the new ops travel to others like any edit. A unit is any set of
// spans, usually one commit; the commit that takes it back is a unit itself, and taking that back
// is redo. So undo and redo are one function, and nothing but spans has to be kept to walk up and
// down:
//
//     commit 1: insert "tea"   commit 2: erase "tea"   commit 3: revert {2}   commit 4: revert {1}
//     atoms       t e a              t e a                t e a  T E A           t e a  T E A
//     shown       tea                (nothing)            TEA, as copies         (nothing)
//
// A letter that comes back is a new atom, since an id is never used twice, but to the people who
// edit it is the letter that it was. So each document notes which atoms stand for which (StandIns):
// commit 4 takes back an insert of t e a, and deletes T E A. Whatever a later revert asks of an
// atom, it asks of the newest copy; where an atom stood, it asks of all copies (placing.h). The
// same holds for list elements, map writes, styles, nodes and whole child containers.
//
// A span's effect on a letter is taken back where it still decides. An insert: the letter goes if
// it is shown. A delete: the letter comes back unless somebody else deleted it since. Where spans
// did both, the first of their ops on the letter counts, for taking it back takes back the others.
//
// Cost: O(log n) for each stretch of letters that goes or comes back, and O(log n) comparisons for
// its place. The notes take 12 bytes for each stretch of letters that came back, and more for each
// map write. They live in memory; a program that starts anew saves stand_ins() and recall()s them.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "crdt/doc/doc.h"

namespace quire::crdt {

// Something that a revert brought back: `length` atoms from `copy` on stand for those from `of` on.
struct StandIn {
    // The role in which they stand for them. The numbers are kept in stores.
    enum class As : std::uint8_t {
        atom = 0,   // Letters, elements, nodes, map entries, styles.
        place = 1,  // No longer told, and passed over: `atom` and `slot` say it.
        value = 2,  // In movable lists a value that is given again, in trees a node's place.
        slot = 3,   // In movable lists the place.
        style = 4,  // A style put on text that came back; `of` is the one that the text was in.
        child = 5,  // The container that `of` made goes on in the one that `copy` made.
        // A write `copy` that was taken back without an op, because what `of` had written says the
        // same; with `copy` itself, because there was nothing.
        settled = 6,
    };
    OpId of;
    OpId copy;
    Counter length = 0;
    As as = As::atom;
    friend bool operator==(const StandIn&, const StandIn&) = default;
};

struct RevertOptions {
    // True to bring back also what others deleted as well.
    bool shared_deletes = false;
    // True to write a map's key only if it then reads otherwise. False makes a redo always an op,
    // so that it can be taken back in its turn.
    bool only_visible_writes = false;
};

struct Undone {
    std::size_t restored = 0;  // Atoms brought back.
    std::size_t removed = 0;   // Atoms taken out.
    std::size_t skipped = 0;   // Atoms left alone because others changed them since.
    // Writes that were taken back without an op. To be saved with stand_ins().
    std::vector<StandIn> settled = {};
};

// New local ops, in the pending transaction, that take back what `spans` did: text and elements
// they inserted are deleted; what they deleted, and nobody else did, is inserted again where it
// stood; map entries return to the value before them, unless someone set them since. With `only`,
// in these containers alone. UndoHistory (undo_history.h) keeps one actor's steps. Errors: conflict
// "detached"; those of History::load().
Result<Undone> revert(Doc& doc, std::span<const IdSpan> spans, std::span<const Handle> only = {},
                      RevertOptions options = {});

// The notes of what the ops of a committed revert stand for. A program that saves them, and what
// reverts settled, and recall()s all of it at once into the same history, read again, goes on where
// this document stopped: the same reverts show the same.
std::vector<StandIn> stand_ins(const Doc& doc, const IdSpan& reverted);
// Errors: corrupt for atoms that are not known, or that cannot stand for each other, because they
// are not of the same container (or of what came back of it) and of the same kind there; a part may
// be known then.
Result<void> recall(Doc& doc, const std::vector<StandIn>& stand_ins);

}  // namespace quire::crdt

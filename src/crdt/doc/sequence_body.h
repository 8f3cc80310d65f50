// SequenceBody: the part that texts, lists and movable lists have in common. Their ops hold
// positions, and a Sequence orders their atoms.
//
// An entity is anything that takes up a position: a character, a style's anchor, an element, a slot
// of a movable list. Local ops count entities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "crdt/doc/site.h"
#include "crdt/history/past.h"
#include "crdt/ids/change.h"

namespace quire::crdt {

class ContainerLog;
class OpLog;
class Sequence;
class Splices;
struct Effect;
struct Run;

// How far a state has followed its log.
struct Followed {
    Lv end = 0;              // The state holds the ops below it.
    std::size_t run = 0;     // The next run of the log to take in. The last one taken in may grow.
    std::size_t effect = 0;  // The next effect to take in.
};

// A stretch of atoms in order, with the versions, of two, in which it is visible.
struct Compared {
    Lv lv;
    std::uint32_t len;
    bool in_a;
    bool in_b;
};

struct SequenceBody {
    SequenceBody();
    SequenceBody(const SequenceBody&) = delete;
    SequenceBody& operator=(const SequenceBody&) = delete;
    ~SequenceBody();
    // Becomes a copy of the same container in another document. O(items).
    void copy_from(const SequenceBody& other);

    std::uint32_t size = 0;  // The number of visible entities after every op of the log.
    // The order of all atoms, deleted ones included. Null until something needs it.
    std::unique_ptr<Sequence> kept;
    // The effects of the ops that are not linear, in the order of the log. A text and a movable
    // list drop what their state has taken in; a list drops everything when the next import comes.
    std::vector<Effect> effects;

    // The order with every op of the log in. O(new ops · log n).
    Sequence& order(Site site);
    // The order, moved to the version of these heads.
    Sequence& order_at(Site site, const Heads& heads);
    // The atom of a visible entity. O(log n).
    Lv atom_at(Site site, std::size_t index);
    // Places atoms of a run that is not linear and notes their effects; false if they have no such
    // place. Requires that the order has everything before them in.
    bool integrate(Site site, const Run& run, LvSpan atoms, const Heads& parents);
    // The atoms that are visible in one of two versions, in order. O(history of the container).
    std::vector<Compared> compare(Site site, const Past& a, const Past& b);
    // The effect of the ops of `span`, the log's last. Their positions tell it, so that neither a
    // state nor the order is asked. O(ops · log ops).
    Splices splices_in(Site site, LvSpan span) const;

    // Local ops on elements.
    void insert_values(Site site, std::uint32_t at, std::vector<Slot> values);
    void insert_value(Site site, std::uint32_t at, Slot value);
    void erase(Site site, std::uint32_t at, std::uint32_t len);

    // CHECKs that the order kept is the one that a replay of the log gives. O(n log n).
    void check_order(Site site);

protected:
    // Writes the op of a local erase.
    void write_erase(Site site, std::uint32_t at, std::uint32_t len);

private:
    // Counts the elements that a local op has written to the container's log.
    void note_inserted(Site site, OpLog& log, std::uint32_t len);
};

// Returns true if a version holds all ops of the container, so that its state as it is will do. False also
// where that would take long to find out.
bool holds_all_of(const Past& past, const ContainerLog& log);

}  // namespace quire::crdt

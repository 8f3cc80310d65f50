// History: the units of one block, oldest first, packed while nobody looks at them.
//
// A unit as a struct takes some 300 bytes, and a stream of tokens makes one for every fifty bytes of
// text. Packed it takes about seven. A history is opened, whole, by the first call that looks at its
// units, and stays open until it is packed again; adding a unit needs no opening. Pointers and
// references to units are valid until pack() and, as with a vector, until add().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "kernel/core/unit.h"

namespace quire::kernel {

// Units in a row of bytes. Most differ little from the one before: the same actor does the same to
// what follows. Such a unit is a byte of flags, and the distances of its version, its time and the end
// of its span; the document's heads are the end of that span. Every sixteenth unit stands alone, so
// that adding a unit reads at most fifteen. A unit that is not like that (an undo, a change of the
// record) is its record in the store (unit.h), whole.
class PackedUnits {
public:
    std::size_t size() const { return count_; }
    // O(1), amortised.
    void add(const Unit& unit);
    // O(units).
    std::vector<Unit> all() const;
    // Gives back the memory that was reserved for more units.
    void end_growth() { bytes_.shrink_to_fit(); }
    std::size_t memory_bytes() const { return bytes_.capacity(); }

private:
    Bytes bytes_;
    std::uint32_t count_ = 0;
    std::uint32_t alone_ = 0;  // The offset of the last unit that stands alone.
};

class History {
public:
    void add(Unit unit);
    std::size_t size() const { return open_ != nullptr ? open_->size() : packed_.size(); }
    bool empty() const { return size() == 0; }
    // O(units) where they are packed.
    const std::vector<Unit>& units() const { return opened(); }
    // Packs the units. O(units) where they are open.
    void pack();
    // About what the units take in memory. O(1).
    std::size_t memory_bytes() const;

    // The units that an undo by `actor` (none: by anyone) takes back: the newest unit that is
    // done, with its group; empty when there is none.
    std::vector<Unit*> next_undo(const std::optional<std::string>& actor);
    // The versions of the units that stand, can be undone and fit, newest first. Units of one group
    // are one step, which the newest names.
    std::vector<std::uint64_t> undoable(const UndoWhich& which) const;
    // The unit of a version, with its group; empty if there is none.
    std::vector<Unit*> with_group_of(std::uint64_t version);
    // The units that a redo restores: those that were undone last.
    std::vector<Unit*> next_redo(const std::optional<std::string>& actor);
    // Called for a new change by `actor`, which ends the actor's chance to redo. Returns the
    // units that this changed.
    std::vector<Unit*> forget_redo(const std::string& actor);
    // The newest unit for which is(const Unit&) holds; null where there is none. O(units) at worst.
    template <class Is>
    Unit* newest(Is is) {
        std::vector<Unit>& units = opened();
        for (std::size_t i = units.size(); i-- > 0;) {
            if (is(std::as_const(units[i]))) return &units[i];
        }
        return nullptr;
    }
    // `unit` is one of these.
    void set_state(Unit& unit, UnitState state);

private:
    std::vector<Unit>& opened() const;
    // The units of the group that are in the state of this one, oldest first; the unit alone if it
    // has no group.
    std::vector<Unit*> with_group(Unit& unit);

    // All units are in one of the two.
    mutable PackedUnits packed_;
    mutable std::unique_ptr<std::vector<Unit>> open_;  // Null while they are packed.
    std::uint32_t undone_ = 0;  // How many are, so that the common case looks at none.
};

}  // namespace quire::kernel

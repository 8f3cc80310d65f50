// ContainerLog: the ops of one container, as run-length runs over arenas.
//
// A run is a series of ops of one peer: text typed, text deleted forwards or backwards, elements
// inserted. Content that forms no runs (map entries, styles, unknown kinds) is kept as the op that
// was received.
//
// A writer who types "cat", moves on, types "dog" in front and deletes the "c" leaves three runs:
//
//     lv   0 1 2     3 4 5     6
//     run  insert    insert    erase_forward       len  3  3  1
//          pos 0     pos 0     pos 3
//     text c a t     d o g
//
// Positions are those of the writer's version, so a run is read right only in that version, or by
// the sequence (merge/sequence.h). A run whose writer knew everything in this container is linear:
// its position holds as it stands.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "crdt/history/atoms.h"
#include "crdt/ids/change.h"
#include "seq/tape.h"

namespace quire::crdt {

// Tests compile the engine with QUIRE_SMALL_NODES, so that a few words fill a tape's reels.
#ifdef QUIRE_SMALL_NODES
inline constexpr unsigned kTextPart = 3;
#else
inline constexpr unsigned kTextPart = 12;
#endif

// The kinds of runs, which decide how `pos`, `payload` and `extra` are read.
enum class RunKind : std::uint8_t {
    insert,          // Text or elements, added to the sequence.
    anchor,          // A style's start or end: one invisible entity of the sequence.
    erase_forward,   // Every atom deletes at `pos`.
    erase_backward,  // The k-th atom deletes at pos - k.
    map_entry,       // MapSet or MapErase.
    move,            // One atom that deletes the slot at `pos`, then inserts one at `payload`.
    element_set,     // A movable list's element gets a value.
    increment,       // A counter's addition.
    other,           // Kept without being understood.
};

// A stretch of one peer's atoms in one container.
struct Run {
    Lv lv = 0;
    std::uint32_t len = 0;
    std::uint32_t pos = 0;      // In entities of the writer's version.
    std::uint32_t payload = 0;  // insert, element_set, increment: offset into the text or the
                                // values; erase: counter of the start id; move: where to;
                                // otherwise index of the op.
    std::uint32_t extra = 0;    // Text: bytes; erase: peer of the start id; move, element_set: the
                                // atom that made the element.
    RunKind kind = RunKind::other;
    bool linear = true;  // The writer's version contained everything that this container had then.
    bool resolved =
        true;  // erase: the start id is recorded, as it came. Local deletes find theirs when asked.

    Lv end() const { return lv + len; }
    bool is_erase() const {
        return kind == RunKind::erase_forward || kind == RunKind::erase_backward;
    }
    bool is_insert() const { return kind == RunKind::insert || kind == RunKind::anchor; }
    bool in_sequence() const { return is_insert() || is_erase() || kind == RunKind::move; }
};

// Append-only, except for rewind().
class ContainerLog {
public:
    explicit ContainerLog(ContainerKind kind) : kind_(kind) {}

    ContainerKind kind() const { return kind_; }
    const std::vector<Run>& runs() const { return runs_; }
    // Makes room for so many runs in an empty log.
    void expect(std::size_t runs) { runs_.reserve(runs); }
    bool empty() const { return runs_.empty(); }
    Lv end() const { return runs_.empty() ? 0 : runs_.back().end(); }

    // The place of an op in history. `joins`: its atoms follow the peer's own last ones and nothing
    // else (parent lv - 1), so they may lengthen the last run.
    struct At {
        Lv lv;
        std::uint32_t pos = 0;
        std::uint32_t len = 1;  // Number of atoms; for text, of code points.
        bool linear = true;
        bool joins = false;
    };

    // Appending an op.
    // `utf8` has at.len code points. Text goes to the end of the tape, so a run that is lengthened
    // needs no copy.
    void insert_text(At at, std::string_view utf8) {
        if (goes_on(at, RunKind::insert) && may_lengthen_text(utf8.size())) {
            lengthen_text(at.len, utf8);
        } else {
            begin_text(at, utf8);
        }
    }
    // Appends text that continues the last run. A run's text lies in one piece, so this can fail.
    bool may_lengthen_text(std::size_t bytes) {
        return text_.may_lengthen(runs_.back().payload + runs_.back().extra, bytes);
    }
    // Lengthens the last run, which the caller knows to be text of the same piece.
    void lengthen_text(std::uint32_t len, std::string_view utf8) {
        text_.lengthen(utf8);
        Run& last = runs_.back();
        last.len += len;
        last.extra += static_cast<std::uint32_t>(utf8.size());
    }
    // Appends one ASCII letter to the last run, which must be text; false if there is no room.
    bool type(char letter) {
        Run& last = runs_.back();
        if (!text_.may_lengthen(last.payload + last.extra, 1)) return false;
        text_.lengthen({&letter, 1});
        ++last.len;
        ++last.extra;
        return true;
    }
    void insert_values(Lv lv, std::uint32_t pos, std::vector<Slot> values, bool linear, bool joins);
    void insert_value(Lv lv, std::uint32_t pos, Slot value, bool linear, bool joins) {
        note_values({lv, pos, 1, linear, joins});
        values_.push_back(std::move(value));
    }
    // A local delete; its start ids are computed when it is exported.
    void erase_forward(Lv lv, std::uint32_t pos, std::uint32_t len, bool joins);
    // The deletes from `from` on belong to this peer, which continues them: their start ids are
    // computed on demand.
    void forget_starts(Lv from);
    // One more atom for the last run of deletes, in its direction.
    void erase_on() { ++runs_.back().len; }
    // A received delete, kept verbatim.
    void erase_recorded(At at, bool backward, PeerIndex start_peer, Counter start);
    // A write to the element that atom `made` inserted.
    void move(Lv lv, std::uint32_t from, std::uint32_t to, Lv made, bool linear) {
        runs_.push_back({lv, 1, from, to, made, RunKind::move, linear, true});
    }
    // A write of a value to the element that atom `made` inserted.
    void set(Lv lv, Lv made, Slot value, bool linear);
    void increment(Lv lv, Value delta);
    // Any other op. `pos` is used by anchors.
    void keep(At at, RunKind kind, OpContent op);

    // --- reading a packed log (packed_log.h) ---
    // Makes room for exactly so many runs, and as many ops in a map.
    void reserve(std::size_t runs) {
        runs_.reserve(runs);
        if (kind_ == ContainerKind::map) ops_.reserve(runs);
    }
    // Appends a run as it was, and the text of one that inserts text.
    void restore(Run run, std::string_view utf8);

    // The index of the run that contains `lv`, or of the first run after it. O(log runs).
    std::size_t find(Lv lv) const;
    // The runs with atoms of the span; the first and the last may reach beyond it. Valid until the
    // log grows. O(log runs).
    std::span<const Run> runs_in(LvSpan span) const;
    // The text of the atoms [lv, lv + len) of an insert run.
    // O(1) in ASCII, else O(text before). Valid until the log grows or is fitted.
    std::string_view text(const Run& run, Lv lv, std::uint32_t len) const;
    std::string_view all_text(const Run& run) const { return text_.read(run.payload, run.extra); }
    // The reel of that text if ropes may show it from there; else null.
    seq::Reel* reel(const Run& run) const { return text_.reel(run.payload); }
    // Slots and ops move when the log grows.
    const Slot& value(const Run& run, Lv lv) const { return values_[run.payload + (lv - run.lv)]; }
    const OpContent& op(const Run& run) const { return ops_[run.payload]; }

    // Gives back room for more ops. O(log).
    void fit() {
        text_.fit();
        runs_.shrink_to_fit();
        values_.shrink_to_fit();
        ops_.shrink_to_fit();
    }

    // About what the log takes in memory. O(1).
    std::size_t memory_bytes() const {
        return runs_.capacity() * sizeof(Run) + values_.capacity() * sizeof(Slot) +
               ops_.capacity() * sizeof(OpContent) + text_.memory_bytes();
    }

    // A length of the log to return to.
    struct Mark {
        std::size_t runs, values, ops;
        seq::Tape::Mark text;
        Run last;
    };
    // A mark stays valid until the log is rewound before it. rewind() is O(what it removes).
    Mark mark() const;
    void rewind(const Mark& mark);

private:
    // Returns true if an insert at that place lengthens the last run.
    bool goes_on(const At& at, RunKind kind) const {
        if (!at.joins || runs_.empty()) return false;
        const Run& last = runs_.back();
        return last.end() == at.lv && last.pos + last.len == at.pos && last.kind == kind &&
               last.linear == at.linear;
    }
    void begin_text(At at, std::string_view utf8);
    // Adds values that come to the end of values_, to the last run or as one of their own.
    void note_values(At at);

    ContainerKind kind_;
    std::vector<Run> runs_;
    // The content of the runs, each of which knows its place in one of these.
    seq::Tape text_{kTextPart};
    std::vector<Slot> values_;
    std::vector<OpContent> ops_;
};

}  // namespace quire::crdt

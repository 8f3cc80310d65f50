// A document that begins with a state: what was at a version, without what led there. Its history
// stays with a HistorySource, as bytes or wherever it is, until something asks for it.
//
// Reading, local edits and sending them need the state alone. What a state holds comes in as ops
// that nobody wrote, one after another in front of all others, by atoms that have the ids and
// lamports they always had: so everything that reads and edits works on it as on any history, and
// what it writes is what it would have written with all of its past at hand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "crdt/doc/doc.h"
#include "crdt/history/atoms.h"
#include "crdt/ids/change.h"
#include "crdt/ids/diff.h"
#include "crdt/ids/version.h"

namespace quire::crdt {

class DocBody;
class ShallowStart;
struct Container;
struct SequenceBody;

// An atom with its place in time.
struct StampedAtom {
    OpId id;
    Lamport lamport = 0;
};

// The version at which the history that is left out ends.
struct OpeningVersion {
    VersionVector end;
    std::vector<StampedAtom> heads;
    std::int64_t timestamp = 0;  // The latest of the heads' changes.
};

// The source of the history that is left out. It is read once at most.
class HistorySource {
public:
    virtual ~HistorySource() = default;
    // Reads all changes up to the version; of a shallow history, those since its start. Errors:
    // corrupt.
    virtual Result<std::vector<Change>> read() = 0;
    // The start of a shallow history; null if the history is whole.
    virtual std::shared_ptr<const ShallowStart> start() const { return nullptr; }
    // The bytes of the snapshot that the document was opened from, if saving the document as it was
    // then may give them again; else nothing.
    virtual std::span<const std::uint8_t> snapshot() const { return {}; }
};

// The part of a document that stands for a history which it has not read. (opening.cc)
struct UnreadHistory {
    std::unique_ptr<HistorySource> source;  // Null once it was read.
    VersionVector end;
    Frontiers heads;
    std::unique_ptr<DocBody> began_as;  // The document as it was until then.
};

// The error for what only a history tells, for example "what made a node": unsupported "needs_history".
Failure needs_history(std::string_view what);

// Takes in a state, container after container, each after the one that it lies in. (state_writer.cc)
//
// Errors: corrupt for what no document can hold; unsupported "needs_history" for what only a
// history tells. Neither leaves anything behind: open_at() drops it all.
class StateWriter {
public:
    explicit StateWriter(DocBody& body) : body_(body) {}

    // Begins a container, which must not have been there before. All that follows is in it.
    Result<void> begin(const ContainerId& id);

    // Makes room for so many stretches of a text, which has none yet.
    void expect_stretches(std::size_t count);
    // Adds to a text, in order. `len` counts the code points of `utf8`; ids and lamports count up.
    Result<void> text(const StampedAtom& first, std::string_view utf8, Counter len);
    Result<void> style_start(StampedAtom at, std::string key, Value value, std::uint8_t info);
    Result<void> style_end(StampedAtom at);
    // Adds to a list, in order. Ids and lamports count up.
    Result<void> values(StampedAtom first, std::span<Item> values);
    // Makes room for so many keys of a map, which has none yet.
    void expect_entries(std::size_t count);
    // Adds a key to a map: its last writer and its item, none if the key was erased.
    Result<void> entry(std::string key, std::optional<Item> item, ElementId writer);
    // Adds an element to a movable list, in order: the atom that put it there, the atoms that made
    // it and gave it its value, and the value.
    Result<void> element(StampedAtom slot, ElementId made, ElementId set, Item item);
    // Adds a slot to a movable list that shows nothing, because its element was moved to another by
    // someone who did not know of it.
    Result<void> empty_slot(StampedAtom slot);
    // Adds a node to a tree, in any order. An erased node has no parent.
    Result<void> node(OpId id, std::optional<OpId> parent, bool erased, StampedAtom last_move,
                      Bytes position);
    // Sets a counter.
    Result<void> total(double sum);

    // The last container is at its end.
    void end();

private:
    Container& container() const { return *container_; }
    // The container's part that sequences share. CHECKs the kind.
    SequenceBody& sequence() const;
    Result<void> grow(std::size_t entities);
    // Adds atoms to the container; the number of the first.
    Lv place(const StampedAtom& first, Counter count);
    // Adds the atom of a write that is known by its lamport. The container that it made, if any, is
    // named after the atom.
    Result<Lv> place(ElementId writer, const Item* made);

    DocBody& body_;
    Container* container_ = nullptr;  // The one that began last.
    bool is_open_ = false;
    std::set<OpId> styles_;  // The styles of the text that have begun.
};

// Takes in the state that `write` tells, as of `version`, and asks `source` for its history once
// something needs that (history.h). CHECKs is_blank(). Errors: those of `write`; corrupt. The
// document is unchanged then.
Result<void> open_at(Doc& doc, const OpeningVersion& version, std::unique_ptr<HistorySource> source,
                     Function<Result<void>(StateWriter&)> write);

}  // namespace quire::crdt

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
struct Container;

// An atom with its place in time.
struct StampedAtom {
    OpId id;
    Lamport lamport = 0;
};

// Where the history that is left out ends.
struct OpeningVersion {
    VersionVector end;
    std::vector<StampedAtom> heads;
    std::int64_t timestamp = 0;  // The latest of the heads' changes.
};

// Can say later what came before. Reads it once at most.
class HistorySource {
public:
    virtual ~HistorySource() = default;
    // All changes up to the version. Errors: corrupt.
    virtual Result<std::vector<Change>> read() = 0;
};

// What a document keeps of a history that it has not read. (opening.cc)
struct UnreadHistory {
    std::unique_ptr<HistorySource> source;  // Null once it was read.
    VersionVector end;
    Frontiers heads;
    std::unique_ptr<DocBody> began_as;  // What the document was until then.
};

// Takes in what a state holds, container after container, what lies inside another after it.
//
// Errors: corrupt for what no document can hold; unsupported "needs_history" for what only a
// history tells. Neither leaves anything behind: open_at() drops it all.
class StateWriter {
public:
    explicit StateWriter(DocBody& body) : body_(body) {}

    // What follows is in this container, which is not one that was there before.
    Result<void> begin(const ContainerId& id);

    // Of a text, in order. `len` counts the code points of `utf8`; ids and lamports count up.
    Result<void> text(StampedAtom first, std::string_view utf8, Counter len);
    Result<void> style_start(StampedAtom at, std::string key, Value value, std::uint8_t info);
    Result<void> style_end(StampedAtom at);
    // Of a list, in order. Ids and lamports count up.
    Result<void> values(StampedAtom first, std::span<Item> values);
    // Of a map: who wrote the key last, and what; none when it was erased.
    Result<void> entry(std::string key, std::optional<Item> item, ElementId writer);
    // Of a movable list, in order: the atom that put it there, those that made it and gave it its
    // value, and the value.
    Result<void> element(StampedAtom slot, ElementId made, ElementId set, Item item);
    // Likewise, a slot that shows nothing, because its element was moved to another by someone who
    // did not know of it.
    Result<void> empty_slot(StampedAtom slot);
    // Of a tree, in any order; one that is erased has no parent.
    Result<void> node(OpId id, std::optional<OpId> parent, bool erased, StampedAtom last_move,
                      Bytes position);
    // Of a counter.
    Result<void> total(double sum);

    // The last container is at its end.
    void end();

private:
    Container& container() const;
    Result<void> grow(std::size_t entities);
    // The number of the first of the atoms, which are in the container then.
    Lv place(const StampedAtom& first, Counter count);
    // Of a write that is known by its lamport; what it made is named after it.
    Result<Lv> place(ElementId writer, const Item* made);

    DocBody& body_;
    std::uint32_t container_ = 0;
    bool is_open_ = false;
    std::set<OpId> styles_;  // Those of the text that have begun.
};

// Takes in the state that `write` tells, as of `version`, and asks `source` for its history once
// something needs that (history.h). CHECKs is_blank(). Errors: those of `write`; corrupt. The
// document is unchanged then.
Result<void> open_at(Doc& doc, const OpeningVersion& version, std::unique_ptr<HistorySource> source,
                     Function<Result<void>(StateWriter&)> write);

}  // namespace quire::crdt

// Shallow documents: the state at one version, and the history since then. What happened before the
// start is gone, so the document is small, and what was deleted cannot be read from its bytes.
//
//     whole     [ ops ............................................. ]
//     shallow           [ the state at the start | ops ............ ]
//                                                ^ the base of the log ends here
//
// The state is the base of the document's log (opening.h): atoms without a past, in front of all
// others. Every later op must depend on the whole base. So its position is one in the state or in
// what became of it, and merging, undo, cursors, events and time travel work as on a whole history.
// A version before the start, and an op whose deps lie before it, are unsupported
// "shallow_snapshot".
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "crdt/doc/opening.h"
#include "crdt/ids/change.h"
#include "crdt/ids/change_batch.h"
#include "crdt/ids/version.h"

namespace quire::crdt {

// The start of a shallow history. A document shares it with its forks.
class ShallowStart {
public:
    // `first_ops`: the ops that are the heads of the version, each cut to that one atom. The state
    // holds what they did; whoever has all that came before them still needs them, and Loro begins
    // its shallow histories with them.
    ShallowStart(OpeningVersion version, std::vector<Change> first_ops)
        : version_(std::move(version)), first_ops_(std::move(first_ops)) {}
    ShallowStart(const ShallowStart&) = delete;
    ShallowStart& operator=(const ShallowStart&) = delete;
    virtual ~ShallowStart() = default;

    const OpeningVersion& version() const { return version_; }
    Frontiers frontiers() const;
    const std::vector<Change>& first_ops() const { return first_ops_; }
    // Everything before `first_ops`: no op of it can be exported.
    VersionVector trimmed() const;
    // Tells the state at the start, any number of times. Errors: as those of StateWriter.
    virtual Result<void> write(StateWriter& writer) const = 0;

private:
    OpeningVersion version_;
    std::vector<Change> first_ops_;
};

// The end of a history.
struct HistoryEnd {
    VersionVector version;
    Frontiers heads;
};

// Returns true if the document has no ops, pending ones included, and is attached. It may have
// subscribers and changes that wait.
bool is_empty(const Doc& doc);

// Makes an empty document shallow: its history begins at `start`, and `history` follows, which ends
// at `end`. Subscribers hear of it as of an import. CHECKs is_empty(). O(state + history). Errors:
// corrupt; unsupported "shallow_snapshot" for an op that does not follow the whole start;
// those of ShallowStart::write(). The document is unchanged then.
Result<void> open_shallow(Doc& doc, std::shared_ptr<const ShallowStart> start, ChangeBatch history,
                          const HistoryEnd& end);

// Fails with unsupported "shallow_snapshot" if an op of the spans was trimmed from the document.
Result<void> check_retained(const Doc& doc, std::span<const IdSpan> spans);

// The latest version up to `version` at which a shallow history of the document can begin, as in
// Loro: one op that depends on all before it, such that no later change names anything before it as
// what it follows, its own peer's last op included. It is not the first half of a style. Empty if
// there is none: such a history begins at the beginning, as one does in which a tree has moved or
// erased a node by then that it had not made, or put one below such a node. In a shallow document it
// is the start at the earliest. O(changes · log runs + ops of trees). Errors: as in
// History::version_of().
Result<Frontiers> start_for(const Doc& doc, const Frontiers& version);

}  // namespace quire::crdt

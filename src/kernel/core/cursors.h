// Cursors: the selections of all actors in one block's text.
//
// A selection holds on to the character before it, so that what others insert at its place comes
// after it, and edits elsewhere move it along. An insertion of its own actor at its place moves it to
// the end of that, as in an editor. Selections live in memory only, and for a minute after they were
// set.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "crdt/doc/doc.h"
#include "kernel/core/block_edits.h"
#include "text/units.h"

namespace quire::kernel {

// The most selections that one actor has in one block.
inline constexpr std::size_t kMostSelections = 100;
inline constexpr std::int64_t kSelectionsLastMs = 60'000;

class Cursors {
public:
    // Replaces the actor's selections; none removes them. All or nothing. O(selections · log n).
    // Errors: invalid_argument "invalid_range" for a place past the end; out_of_range "too_large"
    // for too many.
    Result<void> set(const crdt::Doc& doc, crdt::Handle text, const std::string& actor,
                     const std::vector<Selection>& selections, std::int64_t now_ms);
    // The selections as they are now, by actor. Forgets those whose time is over.
    std::vector<ActorCursors> all(const crdt::Doc& doc, crdt::Handle text, std::int64_t now_ms);
    // Returns true if somebody has selections whose time is not over.
    bool has_any(std::int64_t now_ms) const;
    // The actor has changed the text by these splices, which count in the text before: its selections
    // at the beginning of what it inserted move to the end of that. Those whose character is gone get
    // the one before it. O((selections + splices) · log n).
    void follow(const crdt::Doc& doc, crdt::Handle text, const std::string& actor,
                std::span<const text::Splice> splices);

private:
    // The character before a place; none at the start of the text.
    using Anchor = std::optional<crdt::OpId>;
    // One selection by its anchors: the ends move by themselves as the text changes.
    struct Held {
        Anchor anchor, head;
    };
    // One actor's selections, and the time at which they are forgotten.
    struct Own {
        std::vector<Held> selections;
        std::int64_t until_ms = 0;
    };
    std::map<std::string, Own> by_actor_;
};

}  // namespace quire::kernel

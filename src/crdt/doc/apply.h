// Diffs as local edits: making a document look like another version, or like another document.
#pragma once

#include "base/result.h"
#include "crdt/ids/diff.h"
#include "crdt/ids/version.h"

namespace quire::crdt {

class Doc;

// Makes local edits, in the pending transaction, that do what a diff says: all of it, or, with an
// error, nothing. A child container that the diff makes is made anew, and what the diff says of it
// is done to the new one; a container that is not alive is left out. Errors: those of local edits
// (container_view.h); invalid_argument "invalid_diff" where the diff does not fit the document.
Result<void> apply_diff(Doc& doc, const Diff& diff);

// Makes local edits so that the document looks as it did at `version`: History::diff(), applied.
// Errors: not_found "unknown_version"; those of apply_diff().
Result<void> revert_to(Doc& doc, const Frontiers& version);

}  // namespace quire::crdt

// Snapshots into documents, state first: what a document shows is there at once, and its history
// stays bytes until something asks for it (crdt/doc/opening.h).
//
// Opening costs two passes of checksums over the blob, all states, and the headers of the blocks of
// changes that the heads are in. What is wrong with any of them is told then; what is wrong with
// the rest of the history under checksums that fit, when it is read. A state that says something
// else than its history is believed until then, as Loro believes it; afterwards the history
// decides.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "crdt/doc/doc.h"

namespace quire::codec {

// Opens a snapshot in a document. False, and nothing done, where that cannot be: in a document that
// is_blank() no more, and for updates, a history without a state, and one whose state leaves
// questions that only history answers; import its history then (codec/document.h).
//
// A shallow snapshot makes the document shallow (crdt/doc/shallow.h). It opens in every document that
// is_empty(). Where the blob has no state after its history, the history is read at once.
//
// Errors: corrupt; unsupported "unknown_container" for a shallow snapshot with a container of a kind
// that newer peers have; nothing is done then either.
Result<bool> open_snapshot(crdt::Doc& doc, Bytes blob);

}  // namespace quire::codec

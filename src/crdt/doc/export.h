// Export: ops of a document as batches of changes (change_batch.h).
//
// A batch views the content that the log holds, until the log grows: O(runs), without a copy. Only
// deletes made here cost more (export.cc).
#pragma once

#include <span>
#include <vector>

#include "crdt/doc/body.h"
#include "crdt/ids/change_batch.h"

namespace quire::crdt {

// Appends the changes that the spans hold, in the log's order, cut at the spans' ends. Sorts `spans`.
// Atoms of a base were made by no change that is known, and are left out.
void export_spans(DocBody& body, std::vector<LvSpan>& spans, ChangeBatch& out);
ChangeBatch export_spans(DocBody& body, std::vector<LvSpan> spans);
// Appends the changes of exactly these ids, as far as they are known.
void export_changes(DocBody& body, std::span<const IdSpan> spans, ChangeBatch& out);
// The ops alone.
std::vector<Op> export_ops(DocBody& body, std::span<const LvSpan> spans);

// The committed ops that a version lacks.
std::vector<LvSpan> spans_since(const Journal& journal, const VersionVector& from);

}  // namespace quire::crdt

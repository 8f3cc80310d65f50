// Reconcile: what a change on the disk makes of a document that may have edits of its own.
//
// Three texts go in: the one that disk and document last had in common, the document's and the
// disk's. The plan says which edit of the common text the disk made. The kernel makes that edit in a
// copy of the document at that version and merges it, so that edits that were never saved survive
// and both sides stay in history. The three-way merge of the texts (text/merge3.h) decides how the
// result reads; of two insertions at one place the disk's comes first. Where the document came to
// another text, because it merges characters and knows neither words nor lines, the plan has the
// correction: it moves what the disk brought and leaves the others' text as they typed it, so that
// each author's undo still finds it. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/diff.h"
#include "text/merge3.h"

namespace quire::files {

struct Sides {
    std::string_view base;    // The document's text at the version that the disk last had.
    std::string_view ours;    // The document's text now.
    std::string_view theirs;  // The disk's text now.
};

struct Reconciled {
    std::vector<text::Splice> disk_edit;  // The smallest edit that makes `base` what the disk has.
    std::size_t ties = 0;                 // Places where both sides changed the same words.
    std::string text;                     // The text that the document is to have.

    // The edits of `merged`, the document's text with the disk's edit merged into it, that make it
    // right, to be made one after the other: the first takes out what the disk inserted, the second
    // puts it where it belongs. None where it is right as it is. O(text), and the cost of the diffs.
    std::vector<std::vector<text::Splice>> corrections(const Sides& sides,
                                                       std::string_view merged) const;
};

// `tie`: whose words stand where both sides changed the same ones. O(text), and the cost of the
// diffs.
Reconciled reconcile(const Sides& sides, text::Side tie);

}  // namespace quire::files

// Reconcile: what a change on the disk makes of a document that may have edits of its own.
//
// Three texts go in: the one that disk and document last had in common, the document's and the
// disk's. The plan says which edit of the common text the disk made. The kernel makes that edit in a
// copy of the document at that version and merges it, so that edits that were never saved survive
// and both sides stay in history. The three-way merge of the texts (text/merge3.h) decides how the
// result reads; of two insertions at one place the disk's comes first. Where the document came to
// another text, because it merges characters and knows neither words nor lines, the plan has the
// correction: it moves what the disk brought and leaves the others' text as they typed it, so that
// each author's undo still finds it.
//
// Changes that cannot be merged are a tie and become a conflict record. While one is open, the two sides
// have no text in common there but the record's base. So the merge starts from the disk's last text
// with each record's base in the place of the disk's side. A further change of the disk then meets
// the same edits again: it updates the record, or ends it where the sides now agree. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/conflict.h"
#include "text/diff.h"
#include "text/merge3.h"

namespace quire::files {

struct Sides {
    std::string_view base;    // The document's text at the version that the disk last had.
    std::string_view ours;    // The document's text now.
    std::string_view theirs;  // The disk's text now.
};

// The edits of its own that the document's text keeps, by the rules for the file. The others stay in
// its history alone.
enum class Keeps {
    all,       // Those that cannot be merged with the disk's are conflicts.
    appended,  // Text that was added at the end.
    nothing,
};

struct Manner {
    Keeps keeps = Keeps::all;
    bool whole = false;                   // Two changed sides are a tie of the whole file.
    std::span<const Conflict> open = {};  // The conflicts that are open, by disk_at.
};

// A place where both sides changed the same words and the document's are shown.
struct Tie {
    std::string base;
    std::string agent;
    std::string disk;
    std::size_t at = 0;       // The place of `agent` in Reconciled::text, in bytes.
    std::size_t disk_at = 0;  // The place of `disk` in the disk's text.
    ConflictKind kind = ConflictKind::lines;
    std::optional<std::size_t> open = {};  // Which of Manner::open it continues.
};

struct Reconciled {
    std::vector<text::Splice> disk_edit;  // The smallest edit that makes `base` what the disk has.
    std::string base;                     // The text that both sides changed.
    std::string text;                     // The text that the document is to have.
    std::vector<Tie> ties;
    bool is_edit_lost = false;  // The document had an edit that the text does not keep.

    // The edits of `merged`, the document's text with the disk's edit merged into it, that make it
    // right, to be made one after the other: the first takes out what the disk inserted, the second
    // puts it where it belongs. None where it is right as it is. O(text), and the cost of the diffs.
    std::vector<std::vector<text::Splice>> corrections(const Sides& sides,
                                                       std::string_view merged) const;
};

// O(text), and the cost of the diffs.
Reconciled reconcile(const Sides& sides, const Manner& manner);

// The disk's text with the base of each open conflict in the place of the disk's side.
std::string common_base(std::string_view disk, std::span<const Conflict> open);

}  // namespace quire::files

// A stage: an actor's private copy of a file. The actor's reads and edits of the path go there,
// everybody else's to the file's document, and nothing reaches the disk until the copy is merged in.
//
// It is a document of its own (kStageKind), named by the path and owned by the actor, so that it
// has versions, undo and durability as every document, and one actor cannot have two of one file.
// It holds a copy of the text, not of the history, and costs O(text). Its header says what it was
// copied from.
#pragma once

#include <string>

#include "base/result.h"
#include "files/conflict.h"
#include "kernel/core/catalog.h"
#include "policy/actor.h"

namespace quire::kernel {

// The source of a copy: the file's document, and its version then.
struct StageState {
    store::DocumentKey file = 0;
    files::Version base;

    Bytes encode() const;
    // Errors: corrupt.
    static Result<StageState> decode(const Bytes& bytes);
};

Name name_of_stage(const std::string& path, const policy::Actor& owner);
// Refuses what goes past a private copy. Error: conflict "staged" {path}.
Failure is_staged(const std::string& path, std::string_view what);

// The three-way merge of a private copy into its document's text.
struct Unstaged {
    std::string text;
    std::size_t overlaps = 0;  // Places that both sides changed; both texts stand there.
};
// `base` is the text that was copied, `ours` the document's now, `theirs` the copy's. Pure;
// O(text), and the cost of the diffs.
Unstaged merge_stage(const std::string& base, const std::string& ours, const std::string& theirs);

}  // namespace quire::kernel

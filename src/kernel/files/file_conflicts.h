// FileCalls::Conflicts: the open conflicts of files with the disk, who knows of them, and how they
// are settled.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "files/disk_state.h"
#include "kernel/core/live_document.h"
#include "kernel/files/file_calls.h"
#include "sched/guarded.h"
#include "text/diff.h"

namespace quire::kernel {

// Functions that take a document run on its strand, and count its pending appends as text.
class FileCalls::Conflicts {
public:
    explicit Conflicts(Body& files) : files_(files) {}

    // The refusal of what cannot be done while conflicts are open. Error: conflict `reason` {path,
    // conflicts}.
    static Failure unresolved(LiveDocument& document, const files::DiskState& disk,
                              std::string_view reason, std::string_view what);
    // Checks that an edit of the document may be saved with it. Errors: conflict
    // "needs_resolution", "disk_changed".
    static Result<void> check_settled(LiveDocument& document, const files::DiskState& disk);

    // Returns true if the actor knew of the conflicts. From now on it does.
    bool was_told(const LiveDocument& document, const files::DiskState& disk,
                  const policy::Actor& actor);
    // The document has no conflict any more. Called after a save, from when on the disk has the
    // document's text.
    void forget(store::DocumentKey document);

    // The open conflicts with both sides as they are now. From now on the actor knows of them.
    // O(log n) for each.
    std::vector<FileConflict> list(LiveDocument& document, const policy::Actor& by);
    // Errors: those of FileCalls::resolve().
    Result<FileResolved> resolve(LiveDocument& document, const Caller& by, FileResolve& what);
    // Takes in the disk's changes, and says what came of them. Errors: those of reading.
    Result<FileReconciled> reconcile(LiveDocument& document, const Caller& by);

private:
    Result<FileResolved> settle(LiveDocument& document, const Caller& by,
                                std::vector<text::Splice> splices, files::DiskState disk);
    Result<FileResolved> take_deletion(LiveDocument& document, const Caller& by);

    // The disk's content that a document has open conflicts with, and the actors who know of them.
    // Not stored.
    struct Told {
        fs::Hash hash;
        std::set<std::string> actors;
    };

    Body& files_;
    sched::Guarded<std::map<store::DocumentKey, Told>> told_;
};

}  // namespace quire::kernel

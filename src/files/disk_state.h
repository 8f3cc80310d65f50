// DiskState: the known state of a loaded file on the disk. It is stored as the header of the file's
// document record, in the transaction of the change that made it true.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "base/value.h"
#include "files/conflict.h"
#include "files/form.h"
#include "fs/file_system.h"

namespace quire::files {

// A conflict that was settled, and by which version of the block. The disk still is as it was then.
struct SettledConflict {
    Conflict conflict;
    std::uint64_t version = 0;
    bool is_open_again = false;  // That version was undone, and it is among the open ones.
    friend bool operator==(const SettledConflict&, const SettledConflict&) = default;
};

struct DiskState {
    fs::Hash hash;    // The hash of the last known bytes.
    fs::Stamp stamp;  // Their stamp; only a cache.
    Form form;
    // The version of the document whose text these bytes are. Not the latest version, which may
    // contain unsaved edits.
    Version version;
    bool missing = false;   // The file was found to be missing,
    bool vanished = false;  // and the kernel did not delete it.
    // An earlier version of the program met a conflict and kept no record of it.
    bool unlisted_conflict = false;
    std::vector<Conflict> conflicts = {};  // The open ones, by their place on the disk.
    std::uint32_t last_conflict = 0;       // The number of the newest that there ever was.
    // Conflicts that were settled since the disk last changed: an undo of that version opens them
    // again. A save, or other bytes on the disk, ends them.
    std::vector<SettledConflict> settled = {};

    bool has_conflict() const { return unlisted_conflict || !conflicts.empty(); }
    bool has_deletion() const {
        return std::ranges::any_of(conflicts, [](const Conflict& conflict) {
            return conflict.kind == ConflictKind::deletion;
        });
    }

    // Opens the conflicts again whose settling is undone, and closes those whose settling is redone.
    // Returns true if there was any.
    bool follow_undo(Function<bool(std::uint64_t version)> is_undone);

    Bytes encode() const;
    // Reads this format and those before. Errors: corrupt.
    static Result<DiskState> decode(const Bytes& bytes);
};

}  // namespace quire::files

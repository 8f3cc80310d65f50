// Adopted trees as values: what callers ask for, and what they are answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "files/conflict.h"
#include "kernel/commands/gate_result.h"
#include "kernel/views/sync_words.h"
#include "policy/actor.h"
#include "text/units.h"
#include "views/left_out.h"

namespace quire::kernel {

// A place that the adopted tree and the workspace changed in different ways; each keeps its own.
struct TreeConflict {
    std::string path;
    files::ConflictKind kind = files::ConflictKind::lines;
    std::size_t start = 0;  // The line in the workspace's file, from 0, when it was met.
    std::string base;
    std::string tree;
    std::string shared;
    std::int64_t since_ms = 0;
};

struct AdoptTree {
    std::string directory;  // Absolute.
    policy::Actor actor;
};

// An adopted tree, and how it stands to the workspace. `to_land` and `to_refresh` are sorted.
// `base_age_ms` counts from the last land or refresh, else from the adoption.
struct TreeReport {
    std::string directory;
    policy::Actor actor;
    std::int64_t adopted_ms = 0;
    std::int64_t synced_ms = 0;           // When it was last landed or refreshed; 0 for never.
    std::int64_t base_age_ms = 0;
    bool is_missing = false;              // The directory is gone.
    std::vector<std::string> to_land;     // Files that it changed.
    std::vector<std::string> to_refresh;  // Files that the workspace changed.
    std::vector<TreeConflict> conflicts;
    std::vector<views::LeftOut> left;  // Files that cannot be read now.
};

// Somebody else's change of a file, which may meet one's own.
struct Claim {
    std::string path;
    std::string tree;   // The adopted tree that changed the file; "" for the workspace.
    std::string actor;  // "" where nobody knows it.
    // The lines of the asking tree's file, from 0, in whose place the other has something else. An empty
    // range is a place where the other has inserted lines.
    std::vector<text::LineRange> lines;
    std::int64_t since_ms = 0;  // When the other changed it last,
    std::int64_t age_ms = 0;    // and how long ago that is.
};

// A file that was changed: in the workspace by a land, in the tree by a refresh.
struct SyncedFile {
    std::string path;
    std::string change_type;    // CommandChange's word.
    std::string block_id = {};  // "" where there is no document.
    std::uint64_t version = 0;
};

struct Synced {
    std::string directory;
    policy::Actor actor;
    SyncOutcome outcome = SyncOutcome::done;
    std::vector<SyncedFile> files;
    std::vector<TreeConflict> conflicts;
    std::vector<views::LeftOut> left;
    std::vector<GateObjection> violations;
    std::vector<std::string> approval_ids;
    // Others' work that this would take away, where a person is asked about that.
    std::size_t deleted_files = 0;
    std::size_t deleted_lines = 0;
    std::vector<std::string> notes;
    std::optional<Error> failure;
};

}  // namespace quire::kernel

// SyncRecord: what a land or a refresh makes common, kept on the disk while it writes.
//
// The state of a tree is written last. A kernel that is killed before that leaves this record, and the
// next one takes from it what the files on the disk bear out. To merge these files anew by their older
// base is not the same: work that was undone since would be brought again, and a line that has both
// sides' words may be taken for a conflict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/views/sync_words.h"
#include "kernel/views/tree_plan.h"
#include "views/tree_state.h"

namespace quire::kernel {

// A file of the plan. Both are none where it is gone.
struct RecordedFile {
    std::string path;
    std::optional<views::Head> common;  // The head that it gets.
    std::optional<views::Head>
        brought;  // Form, permission and hash that it has when it is written.

    // Returns true if the file, as it was read, is as the plan wanted it.
    bool is_brought(const std::optional<views::Content>& now) const;
};

struct SyncRecord {
    Direction direction = Direction::land;
    std::vector<RecordedFile> files;   // Sorted by path.
    std::vector<views::OpenTie> ties;  // Those that these files get.

    // Records a plan, and adds the new bases. Errors: those of TreePlan::settle().
    static Result<SyncRecord> of(const TreePlan& plan, const views::TreeState& state,
                                 std::int64_t now_ms);
    // Returns none if there is none, or if it was not written to its end, for then nothing was begun.
    static std::optional<SyncRecord> read(const std::string& file);
    // Errors: unavailable "io_error" {path}.
    Result<void> write(const std::string& file) const;
    // Makes the file's head and ties those of the state.
    void settle(const RecordedFile& file, views::TreeState& state) const;
};

}  // namespace quire::kernel

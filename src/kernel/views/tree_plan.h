// TreePlan: what one tree brings into the other, file by file, before anything is done.
//
// A caller adds the changed paths, looks at the plan, carries it out on the disk by its own means,
// and then settles each file for which that went well. A plan that is dropped before has changed
// nothing. The state is written by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernel/views/view_values.h"
#include "views/base_texts.h"
#include "views/survey.h"
#include "views/tree_state.h"

namespace quire::kernel {

class FileGate;

// One path, as it is in both trees now, and as it shall be. `from` and `into` are none where the
// path is missing there.
struct PlannedFile {
    std::string path;
    std::optional<views::Content> from;
    // A document of the workspace that has edits which are not saved is what everybody sees of its file.
    std::optional<views::Content> into;
    std::optional<fs::Hash> into_on_disk = {};  // The hash of the file's bytes; none for a link.
    // The content that `into` is to have, and that both have in common then; none where the file is gone.
    views::Form form = views::Form::file;
    bool runs = false;
    std::optional<std::string> bytes;
    std::optional<std::string> base;
    bool base_runs = false;
    std::vector<views::Tie> ties;  // `from` is the adopted tree's side, whatever the direction.

    bool writes() const;     // The bytes of `into` change, or its kind.
    bool sets_mode() const;  // Its permissions change.
};

class TreePlan {
public:
    // All outlive it.
    struct Parts {
        const views::TreeFiles& tree;
        const views::TreeFiles& shared;
        FileGate& gate;
        views::BaseTexts& bases;
        views::TreeState& state;
        // The text of the workspace's file as everybody sees it; none where it has none. May be empty.
        std::function<std::optional<std::string>(const std::string& path)> shown = {};
    };
    TreePlan(Parts parts, Direction direction) : parts_(std::move(parts)), direction_(direction) {}

    // Reads both sides of the files and plans them. One that cannot be read is left out, with the
    // reason in left(). O(bytes), and the cost of the diffs.
    void add(const std::vector<std::string>& paths);
    // Adds files that a survey or a write could not take.
    void leave_out(std::vector<views::LeftOut> left);

    Direction direction() const { return direction_; }
    const std::vector<PlannedFile>& files() const { return files_; }
    const std::vector<views::LeftOut>& left() const { return left_; }
    // Returns true if a file was left out because it is being written.
    bool is_busy() const;
    bool has_ties() const;
    // The workspace's or the tree's file has what the plan wants: both sides now have this in
    // common. The tie records of the path are those of the plan, and one that was open before keeps
    // its time. Stamps of a file that was written are forgotten, so the next survey reads it.
    // Changes `state`, in memory alone. Errors: those of BaseTexts::add().
    Result<void> settle(const PlannedFile& file, std::int64_t now_ms,
                        views::TreeState& state) const;

private:
    Result<PlannedFile> planned(const std::string& path) const;
    void show_document(PlannedFile& file) const;
    Result<std::optional<std::string>> base_of(const PlannedFile& file,
                                               const views::Head* head) const;

    const Parts parts_;
    const Direction direction_;
    std::vector<PlannedFile> files_;
    std::vector<views::LeftOut> left_;
};

// The open ties of a tree, as callers see them: `tree` and `shared` in place of `from` and `into`.
// O(bytes of the ties).
std::vector<TreeConflict> conflicts_of(const views::TreeState& state);

}  // namespace quire::kernel

// TreeRegistry: the adopted trees of a workspace, as they are kept in .quire/views.
//
// Each tree has a directory there, named by the hash of its path: `state` says what it and the workspace
// have in common (views/tree_state.h), and `refresh` has the bytes and the journal of a refresh that is
// under way. `bases` holds the common bytes of all trees. A state that is lost costs nothing but work:
// bringing something twice is the same as once (views/bring.h).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fs/disk_entries.h"
#include "fs/disk_files.h"
#include "fs/file_system.h"
#include "fs/tree_watch.h"
#include "views/base_texts.h"
#include "views/survey.h"
#include "views/tree_state.h"

namespace quire::kernel {

// One adopted tree whose directory is there.
class OpenTree {
public:
    // Opens the directory, and reads nothing yet. `incarnation` is that of fs::DiskFiles; files of
    // more than `limit` bytes are left out of surveys; `known` lists the files in place of a walk,
    // and may be empty. Errors: not_found "file_not_found" for a directory that is gone.
    static Result<std::unique_ptr<OpenTree>> open(const std::string& directory,
                                                  std::uint64_t incarnation, std::size_t limit,
                                                  views::TreeFiles::Known known = {});

    const views::TreeFiles& files() const { return files_; }
    // Moves the drafts of interrupted writes into the workspace's .quire/recovered. O(files).
    Result<std::size_t> sweep_into(const OpenTree& workspace) const {
        return disk_->sweep_into(*workspace.disk_);
    }

private:
    OpenTree(std::unique_ptr<fs::DiskFiles> disk, fs::DiskEntries entries, std::size_t limit,
             views::TreeFiles::Known known)
        : disk_(std::move(disk)),
          entries_(std::move(entries)),
          files_(*disk_, entries_, limit, std::move(known)) {}

    std::unique_ptr<fs::DiskFiles> disk_;
    fs::DiskEntries entries_;
    views::TreeFiles files_;
};

// One thread at a time.
class TreeRegistry {
public:
    // `workspace`: absolute, without links. Reads nothing yet.
    explicit TreeRegistry(std::string workspace);

    // Reads what is kept, once. Completes refreshes that a kernel which was killed had begun, and returns a
    // sentence for each. `incarnation` is another in each kernel, or the drafts of one that was killed in
    // a completion are in the way of the next. Errors: unavailable "io_error".
    Result<std::vector<std::string>> open(std::uint64_t incarnation);

    std::map<std::string, views::TreeState>& trees() { return trees_; }
    // Errors: not_found "not_adopted" {directory, adopted}.
    Result<views::TreeState*> find(const std::string& directory);
    views::BaseTexts& bases() { return *bases_; }

    // Keeps the state; the bases that it names are synced before. A crash of the machine leaves the
    // state as it was or as it is now, whole. Call it after find_common() and after each land or
    // refresh. Errors: unavailable "io_error" {path}.
    Result<void> save(const views::TreeState& tree);
    // Forgets the tree, and bases that nobody needs any more. Pointers to its state are invalid
    // then. Errors: unavailable "io_error" {path}; those of BaseTexts::keep().
    Result<void> drop(const std::string& directory);
    // The directory in which a refresh of the tree keeps its bytes and its journal.
    std::string refresh_of(const views::TreeState& tree) const;
    // The file in which a land or a refresh of the tree keeps its record (sync_record.h).
    std::string record_of(const views::TreeState& tree) const {
        return directory_of(tree.directory) + "/begun";
    }

    // The files of an adopted tree, which is watched from the first call on; none where a walk is needed.
    std::optional<std::vector<fs::Entry>> watched_files(const std::string& tree,
                                                        const fs::IgnoreNames& ignore,
                                                        const Clock& clock);

    // The paths of the workspace that lie in an adopted tree are no part of the workspace.
    bool is_in_tree(const std::string& path) const;
    // Call it when trees() has others.
    void note_inner();

private:
    std::string directory_of(const std::string& tree) const;

    const std::string workspace_;
    const std::string directory_;
    bool is_open_ = false;
    std::map<std::string, views::TreeState> trees_;  // Keyed by directory.
    std::optional<views::BaseTexts> bases_;
    std::vector<std::string> inner_;  // Trees in the workspace: "path/".
    struct Watch {
        std::unique_ptr<fs::TreeWatch> tree;
        fs::IgnoreNames ignore;
    };
    std::map<std::string, Watch> watches_;  // Keyed by directory.
};

}  // namespace quire::kernel

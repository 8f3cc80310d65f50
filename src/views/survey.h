// Surveying a tree: which of its files have changed since it and the other tree last agreed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "fs/disk_entries.h"
#include "fs/file_system.h"
#include "views/left_out.h"
#include "views/tree_state.h"

namespace quire::views {

// The bytes of a file, or where a link leads, as they were read at one moment. `runs` says that the
// owner may execute the file; other permissions are no part of what trees have in common. A link's
// sight has the hash of its target and an empty stamp.
struct Content {
    Form form = Form::file;
    bool runs = false;
    std::string bytes;
    Sight sight;
};

// One of the two trees. The parts outlive it.
class TreeFiles {
public:
    // The files of the tree, as somebody who watches it knows them; none where a walk is needed.
    using Known = std::function<std::optional<std::vector<fs::Entry>>()>;
    // `known` may be empty.
    TreeFiles(fs::FileSystem& files, const fs::DiskEntries& entries, std::size_t limit, Known known)
        : files_(files), entries_(entries), limit_(limit), known_(std::move(known)) {}

    // Returns none if the path is neither a file nor a link, or is not there. Reads the file whole.
    // Errors: those of FileSystem::read(), such as a file that is larger than `limit` or is being
    // written ("busy").
    Result<std::optional<Content>> read(const std::string& path) const;
    // The files and links, sorted by path, without any .git and .quire: a linked work tree has a
    // file .git, and an adopted tree a file .quire. Errors: those of FileSystem::list();
    // out_of_range "too_many_files" {limit}. O(files).
    Result<std::vector<fs::Entry>> list(const fs::IgnoreNames& ignore) const;
    fs::FileSystem& files() const { return files_; }
    const fs::DiskEntries& entries() const { return entries_; }

private:
    fs::FileSystem& files_;
    const fs::DiskEntries& entries_;
    std::size_t limit_;
    Known known_;
};

// The outcome of a survey. A path is in one of the two at most.
struct Survey {
    std::vector<std::string> changed;  // Sorted. Those that are gone are among them.
    std::vector<LeftOut> left;
};

// Compares the tree with the heads of `state`, whose stamps of this side it brings up to date: only files
// with another stamp are read. What ignore files leave out is no part of a tree, and nothing
// for which `skips` holds. O(files).
Result<Survey> survey(const TreeFiles& tree, TreeState& state, StampDigest Head::*side,
                      const fs::IgnoreNames& ignore, Function<bool(const std::string& path)> skips);

}  // namespace quire::views

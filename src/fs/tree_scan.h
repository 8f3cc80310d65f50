// The tree of folders that a TreeWatch knows: the names and stamps of the files as they were last
// seen, and how one folder is looked into.
//
// A look opens the folder beneath the root, never follows a link, and costs one statx per file that
// is wanted and one open per ignore file that is there. Memory: about 130 bytes per file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fs/file_system.h"
#include "fs/ignore_chain.h"
#include "text/ignore.h"

namespace quire::fs {

// A file or a link as the system describes it, unread.
struct FileSight {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    std::int64_t born_ns = 0;  // 0 where the file system does not say.
    bool is_link = false;
    bool is_shared = false;  // It has several names.
    // It changed so shortly before the look that a later change may leave the same times.
    bool is_fresh = false;

    // Returns true if nothing that a change of the file would alter differs.
    bool same_as(const FileSight& other) const {
        return same_bytes_as(other) && changed_ns == other.changed_ns;
    }
    // Returns true if only what does not concern the bytes differs, as far as the times can tell.
    bool same_bytes_as(const FileSight& other) const {
        return inode == other.inode && device == other.device && size == other.size &&
               modified_ns == other.modified_ns && is_link == other.is_link;
    }
    // Returns true if both are certainly one and the same file, which may have been written since. Numbers
    // of inodes are used again at once, so the time of birth counts too.
    bool is_file_of(const FileSight& other) const;
    Stamp stamp() const;
};

// One folder. It stays in the tree after it is gone from the disk, until its files have been
// reported as deleted.
struct Folder {
    Folder* parent = nullptr;
    std::string name;
    text::IgnoreChain chain;  // Says which of its entries are ignored.
    int watch = -1;
    bool is_partial = false;  // Ignored; it is there for the sake of files that are kept.
    bool is_polled = false;   // No watch could be had.
    bool is_gone = false;
    std::map<std::string, FileSight, std::less<>> files;
    std::map<std::string, std::unique_ptr<Folder>, std::less<>> folders;

    std::string path() const;  // "" for the root.
    std::string path_of(std::string_view entry) const;
};

// Which entries of the tree are watched.
struct TreeRules {
    IgnoreNames ignore;
    // These files are watched although ignore files leave them out.
    std::set<std::string, std::less<>> kept;

    // Returns true if `path`, an entry of `folder`, is a kept file or leads to one.
    bool keeps(std::string_view path, bool is_folder) const;
    // Returns true if an entry of a folder with this chain is watched. `path` is the entry's.
    bool wants(std::string_view path, bool is_folder, const text::IgnoreChain& chain,
               bool is_partial) const;
};

// The findings of a look into a folder: the wanted entries, and the chain of its ignore files now.
struct FolderSight {
    text::IgnoreChain chain;
    std::map<std::string, FileSight, std::less<>> files;
    std::set<std::string, std::less<>> folders;
};

// Looks into the folder behind the descriptor `opened`, which has this path. Errors: those of
// reading a directory.
Result<FolderSight> look_into(int root, int opened, const Folder& folder, const std::string& path,
                              const TreeRules& rules);

// The file or link `name` in an open folder; none for what is missing or of another kind.
std::optional<FileSight> sight_of(int folder, const std::string& name);

}  // namespace quire::fs

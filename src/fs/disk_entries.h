// DiskEntries: what a directory has beside the bytes of files: directories, links and permissions.
//
// Paths are relative and resolved, as those of FileSystem. No link is followed on the way, so nothing
// outside of the directory is touched. Calls block on the disk. Any thread.
//
// Errors of every operation: those of FileSystem.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "fs/beneath.h"

namespace quire::fs {

// An entry of the directory; a link is not followed.
struct EntryLook {
    Kind kind = Kind::file;
    bool is_link = false;
    std::uint32_t mode = 0;   // The permissions.
    std::string target = {};  // A link's.
};

class DiskEntries {
public:
    static Result<DiskEntries> open(const std::string& directory);

    // Returns none if nothing is there, or if a directory on the way is a link.
    Result<std::optional<EntryLook>> look(const std::string& path) const;

    // Makes a directory, and those above it that are missing. One that is there is left as it is.
    // Errors: conflict "file_exists" if something else is there.
    Result<void> make_directory(const std::string& path, std::uint32_t mode) const;
    // Removes an empty directory. Returns false if it is there still, because it is not empty.
    Result<bool> remove_directory(const std::string& path) const;
    // Makes a link, in the place of another link or of nothing. Errors: conflict "file_exists".
    Result<void> make_link(const std::string& path, const std::string& target) const;
    // Removes a link. Errors: conflict "path_changed" if something else is there.
    Result<void> remove_link(const std::string& path) const;
    // Sets the permissions of a file or directory; set-user-id and the like are left out.
    Result<void> set_mode(const std::string& path, std::uint32_t mode) const;

private:
    explicit DiskEntries(Fd root) : root_(std::move(root)) {}
    Result<Fd> parent_of(const std::string& path) const;
    Fd root_;
};

}  // namespace quire::fs

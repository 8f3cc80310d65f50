// FileSystem: the files of one directory, and nothing beyond it. DiskFiles is the real one,
// MemoryFiles its twin.
//
// A path is bytes, relative to the directory. What a caller names is first resolved: links are
// followed here, one component at a time, and every other operation takes the resolved path and
// refuses to meet a link on its way. So the path that a rule was asked about is the file that is
// opened, or the call fails: there is no moment between the check and the use in which a swapped
// link could matter.
//
// Errors of every operation: denied "outside_workspace"; invalid_argument "invalid_path"; not_found
// "file_not_found"; invalid_argument "not_a_file" {kind} for directories, fifos, sockets and
// devices; denied "access_denied" where the system says no; conflict "path_changed" when a link
// took the place of a component since resolve(); unavailable "disk_full", "busy" (it is being
// written), "io_error". Thread-safe; calls block on the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fs/hash.h"

namespace quire::fs {

enum class Kind { missing, file, directory, other };

struct Place {
    std::string
        path;  // No link on the way; what everything else takes. "" is the directory itself.
    std::vector<std::string> aliases;  // Every name that led there by a link, the caller's first.
    Kind kind = Kind::missing;
    bool linked() const { return !aliases.empty(); }
};

// A cache key for a file's bytes. Equal stamps mean equal bytes only where `settled`: the file's
// last change was well before it was looked at, so that a later one must show in its times.
struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    bool settled = false;
    bool same_as(const Stamp& now) const {
        return settled && device == now.device && inode == now.inode && size == now.size &&
               modified_ns == now.modified_ns && changed_ns == now.changed_ns;
    }
};

struct FileBytes {
    std::string bytes;
    Hash hash;
    Stamp stamp;
};

struct Saved {
    Hash hash;
    Stamp stamp;
    std::vector<std::string> notes;  // What was not kept: a set-user-id bit.
};

struct Entry {
    std::string path;
    std::uint64_t size = 0;  // 0 for a link.
    bool is_link = false;    // Not followed; where it leads is resolve()'s to say.
};
struct Listing {
    std::vector<Entry> entries;     // Files and links, sorted by path.
    std::size_t skipped_names = 0;  // Not UTF-8, so that no caller could name them.
    bool truncated = false;
};

class FileSystem {
public:
    virtual ~FileSystem() = default;

    virtual Result<Place> resolve(std::string_view path) = 0;
    virtual Result<Stamp> stamp(const std::string& path) = 0;

    // All of it, as it was at one moment. Errors: out_of_range "too_large" {limit, size}.
    virtual Result<FileBytes> read(const std::string& path, std::size_t limit) = 0;

    // Puts `bytes` where bytes with the hash `expected` are; mode, owner and extended attributes
    // stay. Whatever happens the path holds all of the old or all of the new, and the new is on the
    // disk when this returns. Errors: conflict "disk_changed" when something else is there, which
    // is then still there; conflict "hard_linked" for a file with several names; denied
    // "metadata_lost" naming what could not be kept; unsupported "unsupported_filesystem".
    virtual Result<Saved> save(const std::string& path, std::string_view bytes,
                               const Hash& expected) = 0;
    // A new file, and the directories it needs. Errors: conflict "file_exists".
    virtual Result<Saved> create(const std::string& path, std::string_view bytes) = 0;
    // Errors: conflict "disk_changed".
    virtual Result<void> remove(const std::string& path, const Hash& expected) = 0;

    // Files below the directory but for .git and .quire. Links to directories are not entered.
    virtual Result<Listing> list(std::size_t limit) = 0;
    // Takes what saves that were cut short left behind out of the way, into .quire/recovered. How
    // many there were.
    virtual Result<std::size_t> sweep() = 0;
};

}  // namespace quire::fs

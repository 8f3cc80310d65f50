// FileSystem: the files of one directory and nothing outside of it. DiskFiles is the real one,
// MemoryFiles its twin for tests.
//
// A path is a string of bytes, relative to the directory. A caller's path is first resolved, which
// may be absolute if it leads below the directory: links are followed here, one component at a
// time. Where the file system ignores case, the path has the names as they are on the disk. All
// other operations take the resolved path and refuse links. So the path that a rule was checked for is the file that is opened, or the call
// fails: swapping a link between check and use has no effect.
//
// Errors of every operation: denied "outside_workspace"; invalid_argument "invalid_path"; not_found
// "file_not_found"; invalid_argument "not_a_file" {kind} for directories, fifos, sockets and
// devices; denied "access_denied" if the system refuses; conflict "path_changed" if a link took the
// place of a component after resolve(); unavailable "disk_full", "busy" (the file is being
// written), "io_error". Thread-safe; calls block on the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fs/hash.h"
#include "fs/ignore_names.h"

namespace quire::fs {

// The kind of thing at a path; `other` is a fifo, a socket or a device.
enum class Kind { missing, file, directory, other };

// A resolved path.
struct Place {
    std::string
        path;  // No link on the way; what everything else takes. "" is the directory itself.
    std::vector<std::string> aliases;  // All names that led here by a link, the caller's first.
    Kind kind = Kind::missing;
    std::vector<std::string> hard_links = {};  // The other names of the file in the directory.
    bool linked_elsewhere = false;  // The file has a name that is not in the directory.
    bool linked() const { return !aliases.empty(); }
};

// A cache key for a file's bytes. Equal stamps mean equal bytes only if `settled`: the last change
// was long enough before the stamp was taken that a later change must alter the times.
struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    bool settled = false;
    // Returns true if the bytes cannot have changed between the two stamps.
    bool same_as(const Stamp& now) const {
        return settled && device == now.device && inode == now.inode && size == now.size &&
               modified_ns == now.modified_ns && changed_ns == now.changed_ns;
    }
};

// The content of a file at one moment.
struct FileBytes {
    std::string bytes;
    Hash hash;
    Stamp stamp;
};

// The file whose place a save took, kept open: another program may go on writing to it through a
// descriptor that it opened before. Any thread, one at a time.
class Displaced {
public:
    virtual ~Displaced() = default;
    // The bytes of the file, if they are others than known(). With `thorough` they are read; else
    // equal times and sizes say that they are the same. Errors: those of read().
    virtual Result<std::optional<std::string>> changed(std::size_t limit, bool thorough) = 0;
    // The bytes that the save displaced, or that were accepted last.
    virtual const std::string& known() const = 0;
    virtual void accept(std::string bytes) = 0;
    // True while another program has the file open for writing and has just written to it.
    virtual bool is_being_written() const = 0;
};

// The state of a file after a save.
struct Saved {
    Hash hash;
    Stamp stamp;
    std::vector<std::string> notes;  // Properties that were lost, such as a set-user-id bit.
    std::shared_ptr<Displaced> displaced = nullptr;  // After a save; null for a new file.
};

// A file or link in a listing.
struct Entry {
    std::string path;
    std::uint64_t size = 0;  // 0 for a link.
    bool is_link = false;    // Not followed; resolve() tells where it leads.
    Stamp stamp = {};        // Says nothing for a link.
};
// The files of the directory, at about one moment.
struct Listing {
    std::vector<Entry> entries;  // Files and links, sorted by path.
    std::vector<Entry> unnamed;  // Those whose paths are not UTF-8: none can be named. In any order.
    bool truncated = false;      // One of the two had more than the limit.
};

// The operations on the directory.
class FileSystem {
public:
    virtual ~FileSystem() = default;

    virtual Result<Place> resolve(std::string_view path) = 0;
    virtual Result<Stamp> stamp(const std::string& path) = 0;

    // The whole content at one moment. A file that another program has open for writing is read
    // once it is closed or was left alone for the settle time; "busy" after five seconds, and then
    // at once for as long as it is written to. Errors: out_of_range "too_large" {limit, size}.
    virtual Result<FileBytes> read(const std::string& path, std::size_t limit) = 0;

    // The content now, maybe in the middle of another program's write: for those who only look. Never
    // waits, and leaves the hash out. The stamp is settled only if nothing changed meanwhile. Errors:
    // those of read() but "busy".
    virtual Result<FileBytes> peek(const std::string& path, std::size_t limit) = 0;

    // Replaces bytes with the hash `expected` by `bytes`; mode, owner and extended attributes stay.
    // After any failure the path holds either all of the old or all of the new bytes; on success
    // the new bytes are on the disk. Errors: conflict "disk_changed" if the file holds other bytes,
    // which stay; conflict "hard_linked" for a file with several names; denied "metadata_lost"
    // naming what could not be kept; unsupported "unsupported_filesystem".
    virtual Result<Saved> save(const std::string& path, std::string_view bytes,
                               const Hash& expected) = 0;
    // Creates a file and the directories it needs. Errors: conflict "file_exists".
    virtual Result<Saved> create(const std::string& path, std::string_view bytes) = 0;
    // Deletes a file with the expected bytes. Errors: conflict "disk_changed".
    virtual Result<void> remove(const std::string& path, const Hash& expected) = 0;

    // The files below the directory, except .git and .quire, and except what the ignore files of
    // these names leave out: files, and folders with all that is in them. Links to directories are
    // not entered.
    virtual Result<Listing> list(std::size_t limit, const IgnoreNames& ignore) = 0;
    // Moves the drafts of interrupted saves into .quire/recovered and returns their number.
    virtual Result<std::size_t> sweep() = 0;
};

}  // namespace quire::fs

// The reading half of DiskFiles; saving is in disk_save.cc. A read must return the bytes of one
// moment although other programs write: it compares the file's stamp before and after, and tries
// again a few times with growing pauses. The walk over a directory never enters links, .git or
// .quire, and skips what disappears meanwhile, so it costs one openat2 per directory and one
// fstatat per entry.

#include "fs/disk_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "fs/draft_names.h"
#include "fs/folder_entries.h"
#include "fs/resolve.h"

namespace quire::fs {
namespace {

constexpr int kReadTries = 4;

struct Found {
    std::string path;
    std::string name;
    struct stat status;
};

// A directory that a walk still has to visit, and the ignore files around it.
struct Ahead {
    std::string path;
    text::IgnoreChain around;
};

// Visits every entry below `root`, without entering links, .git and .quire, until `take` returns
// false. What ignore files of these names leave out is passed over. Entries that cannot be opened
// or have disappeared are skipped.
void walk(int root, const IgnoreNames& ignore, Function<bool(const Found&)> take) {
    std::vector<Ahead> directories = {{"", {}}};
    while (!directories.empty()) {
        const auto [directory, around] = std::move(directories.back());
        directories.pop_back();
        auto opened = open_beneath(root, directory, O_RDONLY | O_DIRECTORY);
        if (!opened) continue;
        const int here = opened->get();
        const auto entries = entries_in(here, directory);
        if (!entries) continue;
        const text::IgnoreChain chain =
            chain_below(around, directory, ignore,
                        [&](const std::string& path) { return ignore_file_at(root, path); });
        for (const auto& [name, kind] : *entries) {
            Found found{directory.empty() ? name : cat(directory, "/", name), name, {}};
            if (::fstatat(here, name.c_str(), &found.status, AT_SYMLINK_NOFOLLOW) != 0) continue;
            const bool is_directory = S_ISDIR(found.status.st_mode);
            if (chain.ignores(found.path, is_directory)) continue;
            if (is_directory) {
                if (name != ".git" && name != ".quire") directories.push_back({found.path, chain});
            } else if (!take(found)) {
                return;
            }
        }
    }
}

}  // namespace

// The directory is opened once; its descriptor stays valid if the directory is renamed.
Result<std::unique_ptr<DiskFiles>> DiskFiles::open(const std::string& directory, Options options) {
    Fd root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return system_failure(errno, directory, "cannot open the workspace");
    TRY(open_beneath(root.get(), "", O_PATH));
    return std::unique_ptr<DiskFiles>(new DiskFiles(std::move(root), std::move(options)));
}

// The look at each step opens the entry itself and never follows a link.
Result<Place> DiskFiles::resolve(std::string_view path) {
    const auto look = [&](const std::string& at) -> Result<Look> {
        const int opened = try_open_beneath(root_.get(), at, O_PATH | O_NOFOLLOW);
        if (opened < 0 && (errno == ENOENT || errno == ENOTDIR)) return Look{};
        if (opened < 0) return system_failure(errno, at, "cannot open");
        const Fd fd(opened);
        struct stat status = {};
        if (::fstat(fd.get(), &status) != 0) return system_failure(errno, at, "cannot look at");
        if (!S_ISLNK(status.st_mode)) return Look{kind_of(status), false, ""};
        char target[4096];
        const ssize_t size = ::readlinkat(fd.get(), "", target, sizeof target);
        if (size < 0) return system_failure(errno, at, "cannot read the link");
        return Look{Kind::missing, true, std::string(target, static_cast<std::size_t>(size))};
    };
    if (!path.starts_with('/')) return fs::resolve(path, look);
    const std::optional<std::string> below = below_root(path);
    return fs::resolve(below ? *below : path, look);
}

// The system says which directory on the way is the root, never its name: the way to it may lead
// through links.
std::optional<std::string> DiskFiles::below_root(std::string_view path) const {
    struct stat root = {};
    if (path.find('\0') != std::string_view::npos || ::fstat(root_.get(), &root) != 0)
        return std::nullopt;
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        struct stat here = {};
        const std::string way(path.substr(0, end));
        if (::stat(way.c_str(), &here) != 0) return std::nullopt;
        if (here.st_dev == root.st_dev && here.st_ino == root.st_ino)
            return end == std::string_view::npos ? std::string()
                                                 : std::string(path.substr(end + 1));
        if (end == std::string_view::npos) return std::nullopt;
    }
}

Result<Stamp> DiskFiles::stamp(const std::string& path) {
    const Fd fd = TRY(open_beneath(root_.get(), path, O_PATH | O_NOFOLLOW));
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0) return system_failure(errno, path, "cannot look at");
    TRY(require_file(status, path));
    return stamp_of(status);
}

Result<Fd> DiskFiles::open_file(int directory, const std::string& name, const std::string& path) {
    // Opening a device can have effects, so the kind is checked before and again after.
    struct stat status = {};
    const Fd there = TRY(open_beneath(directory, name, O_PATH | O_NOFOLLOW));
    if (::fstat(there.get(), &status) != 0) return system_failure(errno, path, "cannot look at");
    TRY(require_file(status, path));
    Fd fd = TRY(open_beneath(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (::fstat(fd.get(), &status) != 0) return system_failure(errno, path, "cannot look at");
    TRY(require_file(status, path));
    return fd;
}

// Reads between two looks at the stamp; if they differ, a writer was active.
Result<FileBytes> DiskFiles::read(const std::string& path, std::size_t limit) {
    for (int attempt = 0; attempt < kReadTries; ++attempt) {
        // A writer is active: wait 1, 4 and 16 ms for it to finish.
        if (attempt > 0) ::poll(nullptr, 0, 1 << (2 * (attempt - 1)));
        const Fd fd = TRY(open_file(root_.get(), path, path));
        struct stat before = {};
        struct stat after = {};
        if (::fstat(fd.get(), &before) != 0) return system_failure(errno, path, "cannot look at");
        FileBytes file;
        file.bytes = TRY(read_all(fd.get(), static_cast<std::size_t>(before.st_size), limit, path));
        if (file.bytes.size() > limit) {
            Map details;
            details.set("limit", limit);
            details.set("size", static_cast<std::uint64_t>(before.st_size));
            return fail(Errc::out_of_range, "too_large",
                        cat(path, " has more than ", limit, " bytes"), std::move(details));
        }
        if (::fstat(fd.get(), &after) != 0) return system_failure(errno, path, "cannot look at");
        const Stamp first = stamp_of(before);
        file.stamp = stamp_of(after);
        if (first.modified_ns != file.stamp.modified_ns ||
            first.changed_ns != file.stamp.changed_ns || first.size != file.stamp.size ||
            file.stamp.size != file.bytes.size()) {
            continue;
        }
        file.hash = Hash::of(file.bytes);
        return file;
    }
    return fail(Errc::unavailable, "busy",
                cat(path, " is being written; try again when its writer has finished"));
}

// Names that are not UTF-8 are only counted.
Result<Listing> DiskFiles::list(std::size_t limit, const IgnoreNames& ignore) {
    Listing listing;
    walk(root_.get(), ignore, [&](const Found& found) {
        if (is_draft(found.name)) return true;
        const bool is_link = S_ISLNK(found.status.st_mode);
        if (!is_link && !S_ISREG(found.status.st_mode)) return true;
        if (!utf8::is_valid(found.path)) {
            ++listing.skipped_names;
            return true;
        }
        if (listing.entries.size() == limit) {
            listing.truncated = true;
            return false;
        }
        const auto size = is_link ? 0 : static_cast<std::uint64_t>(found.status.st_size);
        listing.entries.push_back({found.path, size, is_link});
        return true;
    });
    std::ranges::sort(listing.entries,
                      [](const Entry& a, const Entry& b) { return a.path < b.path; });
    return listing;
}

// Runs at start, before anything is written.
Result<std::size_t> DiskFiles::sweep() {
    std::vector<Found> left;
    walk(root_.get(), {}, [&](const Found& found) {
        if (S_ISREG(found.status.st_mode) && is_draft(found.name) &&
            !is_draft_of(found.name, options_.incarnation)) {
            left.push_back(found);
        }
        return true;
    });
    std::size_t swept = 0;
    for (const Found& found : left) {
        // A draft may hold the bytes that a save had just displaced, so it is moved away, not
        // deleted.
        const Fd keep = TRY(make_parents(".quire/recovered"));
        const Fd parent =
            TRY(open_beneath(root_.get(), split(found.path).first, O_RDONLY | O_DIRECTORY));
        if (rename_noreplace(parent.get(), found.name, keep.get(), found.name) == 0) ++swept;
    }
    return swept;
}

// Creates one directory after the other, and syncs each parent, so that the new names survive a
// crash.
Result<Fd> DiskFiles::make_parents(const std::string& parent) {
    std::string made;
    Fd here = TRY(open_beneath(root_.get(), "", O_RDONLY | O_DIRECTORY));
    for (std::size_t from = 0; from < parent.size();) {
        const std::size_t end = std::min(parent.find('/', from), parent.size());
        const std::string name = parent.substr(from, end - from);
        cat_to(made, made.empty() ? "" : "/"), cat_to(made, name);
        int next = try_open_beneath(here.get(), name, O_RDONLY | O_DIRECTORY);
        if (next < 0 && errno == ENOENT) {
            if (::mkdirat(here.get(), name.c_str(), 0777) != 0 && errno != EEXIST) {
                return system_failure(errno, made, "cannot make the directory");
            }
            if (::fsync(here.get()) != 0)
                return system_failure(errno, made, "cannot sync the parent of");
            next = try_open_beneath(here.get(), name, O_RDONLY | O_DIRECTORY);
        }
        if (next < 0) return system_failure(errno, made, "cannot open the directory");
        here = Fd(next);
        from = end + 1;
    }
    return here;
}

}  // namespace quire::fs

// The reading half of DiskFiles; saving is in disk_save.cc. A read must return the bytes of one
// moment although other programs write: it compares the file's stamp before and after, and tries
// again a few times with growing pauses. Before that it waits for programs that have the file open
// for writing. The walk over a directory never enters links, for lists not .git or .quire either, and
// skips what disappears meanwhile, so it costs one openat2 per directory and one fstatat per entry.

#include "fs/disk_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "fs/draft_names.h"
#include "fs/folder_entries.h"
#include "fs/ignore_chain.h"
#include "fs/resolve.h"

namespace quire::fs {
namespace {

constexpr int kReadTries = 4;
// The number of busy files that are remembered.
constexpr std::size_t kMostWaits = 1000;

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

// The directories that a walk enters: all but .git and .quire, or all.
enum class Enter { usual, all };

// Visits every entry below `root`, without entering links, until `take` returns false. What
// ignore files of these names leave out is passed over. Entries that cannot be opened or have
// disappeared are skipped.
void walk(int root, const IgnoreNames& ignore, Enter enter, Function<bool(const Found&)> take) {
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
                if (enter == Enter::all || (name != ".git" && name != ".quire"))
                    directories.push_back({found.path, chain});
            } else if (!take(found)) {
                return;
            }
        }
    }
}

// The name as the directory has it. A name that is found in other letters too may have been spelled
// unlike the entry, where the file system ignores case; the directory's list decides. One lookup that
// fails, everywhere else.
std::string true_name(int parent, const std::string& name, const struct stat& status) {
    std::string other = name;
    for (char& c : other) {
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) c = static_cast<char>(c ^ 0x20);
    }
    const auto is_it = [&](const std::string& each) {
        struct stat there = {};
        return ::fstatat(parent, each.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
               there.st_ino == status.st_ino && there.st_dev == status.st_dev;
    };
    if (other == name || !is_it(other)) return name;
    const auto opened = open_beneath(parent, "", O_RDONLY | O_DIRECTORY);
    if (!opened) return name;
    const auto entries = entries_in(opened->get(), name);
    if (!entries) return name;
    std::string same = name;
    for (const auto& entry : *entries) {
        if (entry.name == name) return name;
        if (is_it(entry.name)) same = entry.name;
    }
    return same;
}

// Moves a file to another file system, under its name; it is gone here once its copy is durable.
bool move_by_copy(int from, const std::string& name, int to) {
    const Fd file(::openat(from, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return false;
    const Fd copy(
        ::openat(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!copy) return false;
    constexpr std::size_t kAtOnce = std::size_t{1} << 20;
    ssize_t sent = 1;
    while (sent > 0) sent = ::sendfile(copy.get(), file.get(), nullptr, kAtOnce);
    if (sent == 0 && ::fsync(copy.get()) == 0 && ::fsync(to) == 0)
        return ::unlinkat(from, name.c_str(), 0) == 0;
    ::unlinkat(to, name.c_str(), 0);
    return false;
}

}  // namespace

// The directory is opened once; its descriptor stays valid if the directory is renamed.
Result<std::unique_ptr<DiskFiles>> DiskFiles::open(const std::string& directory, Options options) {
    Fd root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return system_failure(errno, directory, "cannot open the workspace");
    TRY(open_beneath(root.get(), "", O_PATH));
    return std::unique_ptr<DiskFiles>(
        new DiskFiles(directory, std::move(root), std::move(options)));
}

Result<void> DiskFiles::check_attached() const {
    struct stat named = {}, held = {};
    if (::stat(directory_.c_str(), &named) == 0 && ::fstat(root_.get(), &held) == 0 &&
        named.st_dev == held.st_dev && named.st_ino == held.st_ino)
        return {};
    return fail(Errc::unavailable, "workspace_removed",
                cat("nothing was written: the directory ", directory_,
                    " was removed, moved or replaced since the kernel started. The edits are kept; "
                    "put the directory back and save again, or stop the kernel (quire stop)"),
                {{"directory", directory_}});
}

// Opens the entry itself and never follows a link.
Result<Look> DiskFiles::look_at(const std::string& path) {
    const auto [directory, name] = split(path);
    const int held = try_open_beneath(root_.get(), directory, O_PATH | O_DIRECTORY);
    if (held < 0 && (errno == ENOENT || errno == ENOTDIR)) return Look{};
    if (held < 0) return system_failure(errno, path, "cannot open");
    const Fd parent(held);
    const int opened = try_open_beneath(parent.get(), name, O_PATH | O_NOFOLLOW);
    if (opened < 0 && (errno == ENOENT || errno == ENOTDIR)) return Look{};
    if (opened < 0) return system_failure(errno, path, "cannot open");
    const Fd fd(opened);
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0) return system_failure(errno, path, "cannot look at");
    const std::string as_it_is = true_name(parent.get(), name, status);
    if (!S_ISLNK(status.st_mode)) return Look{kind_of(status), false, "", as_it_is};
    char target[4096];
    const ssize_t size = ::readlinkat(fd.get(), "", target, sizeof target);
    if (size < 0) return system_failure(errno, path, "cannot read the link");
    return Look{Kind::missing, true, std::string(target, static_cast<std::size_t>(size)),
                as_it_is};
}

// A file with several names is as protected as each of them, so a walk over the whole directory
// looks for the others, .git and .quire included. It ends with the last name.
void DiskFiles::find_hard_links(Place& place) {
    struct stat status = {};
    const int opened = try_open_beneath(root_.get(), place.path, O_PATH | O_NOFOLLOW);
    if (opened < 0) return;
    const Fd fd(opened);
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink < 2) return;
    std::size_t left = status.st_nlink - 1;
    const auto take = [&](const Found& found) {
        if (found.status.st_ino != status.st_ino || found.status.st_dev != status.st_dev ||
            found.path == place.path)
            return true;
        place.hard_links.push_back(found.path);
        return --left > 0;
    };
    walk(root_.get(), {}, Enter::all, take);
    // Names that the walk did not find are outside of the directory, where no rule can speak for
    // them.
    place.linked_elsewhere = left > 0;
}

// The place of a caller's path, with all names of the file there.
Result<Place> DiskFiles::resolve(std::string_view path) {
    const auto look = [this](const std::string& at) { return look_at(at); };
    const auto find = [&](std::string_view relative) -> Result<Place> {
        Place place = TRY(fs::resolve(relative, look));
        if (place.kind == Kind::file) find_hard_links(place);
        return place;
    };
    if (!path.starts_with('/')) return find(path);
    const std::optional<std::string> below = below_root(path);
    return find(below ? *below : path);
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

// A file that no other program has open for writing is read at once. Where the system does not say,
// only its age counts. Waits of several calls for one file count from the first, so a file that is
// written to all the time holds up one call, not all of them.
Result<Fd> DiskFiles::open_settled(const std::string& path) {
    const std::int64_t settle_ms = settle_ms_.with([](std::int64_t ms) { return ms; });
    const auto is_unchanged = [](const struct stat& a, const struct stat& b) {
        return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_size == b.st_size &&
               a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
    };
    struct stat seen = {};
    std::int64_t seen_ms = 0;
    for (;;) {
        Fd fd = TRY(open_file(root_.get(), path, path));
        struct stat status = {};
        if (::fstat(fd.get(), &status) != 0) return system_failure(errno, path, "cannot look at");
        const std::int64_t now = steady_ms();
        // A file that is open for writing and has been left alone for the settle time counts as
        // whole: editors and loggers keep files open.
        if (!is_unchanged(status, seen)) seen = status, seen_ms = now;
        if (writers_of(fd.get()) == Writers::none || now - seen_ms >= settle_ms ||
            age_of(status) / 1'000'000 >= settle_ms) {
            waits_.with([&](auto& waits) { waits.erase(path); });
            return fd;
        }
        const bool goes_on = waits_.with([&](auto& waits) {
            // The map only shortens waits, so it may be forgotten at any time.
            if (waits.size() > kMostWaits) waits.clear();
            Wait& wait = waits.try_emplace(path, Wait{now, now}).first->second;
            if (now - wait.last > options_.busy_ms) wait.since = now;
            wait.last = now;
            return now - wait.since < options_.busy_ms;
        });
        if (!goes_on) {
            return fail(Errc::unavailable, "busy",
                        cat(path, " is being written by another program; try again when it has "
                                  "finished"),
                        {{"path", path}});
        }
        ::poll(nullptr, 0, static_cast<int>(std::clamp<std::int64_t>(settle_ms / 4, 1, 20)));
    }
}

// Reads between two looks at the stamp. If they differ, or the size is not what was read, a writer was
// active.
Result<DiskFiles::ReadOnce> DiskFiles::read_once(int fd, const std::string& path,
                                                 std::size_t limit) {
    struct stat before = {};
    struct stat after = {};
    if (::fstat(fd, &before) != 0) return system_failure(errno, path, "cannot look at");
    ReadOnce out;
    FileBytes& file = out.file;
    file.bytes = TRY(read_all(fd, static_cast<std::size_t>(before.st_size), limit, path));
    if (file.bytes.size() > limit) {
        Map details;
        details.set("limit", limit);
        details.set("size", static_cast<std::uint64_t>(before.st_size));
        return fail(Errc::out_of_range, "too_large", cat(path, " has more than ", limit, " bytes"),
                    std::move(details));
    }
    if (::fstat(fd, &after) != 0) return system_failure(errno, path, "cannot look at");
    const Stamp first = stamp_of(before);
    file.stamp = stamp_of(after);
    out.is_of_one_moment = first.modified_ns == file.stamp.modified_ns &&
                           first.changed_ns == file.stamp.changed_ns &&
                           first.size == file.stamp.size && file.stamp.size == file.bytes.size();
    return out;
}

Result<FileBytes> DiskFiles::peek(const std::string& path, std::size_t limit) {
    const Fd fd = TRY(open_file(root_.get(), path, path));
    ReadOnce once = TRY(read_once(fd.get(), path, limit));
    once.file.stamp.settled = once.file.stamp.settled && once.is_of_one_moment;
    return std::move(once.file);
}

Result<FileBytes> DiskFiles::read(const std::string& path, std::size_t limit) {
    for (int attempt = 0; attempt < kReadTries; ++attempt) {
        // A writer is active: wait 1, 4 and 16 ms for it to finish.
        if (attempt > 0) ::poll(nullptr, 0, 1 << (2 * (attempt - 1)));
        const Fd fd = TRY(open_settled(path));
        ReadOnce once = TRY(read_once(fd.get(), path, limit));
        if (!once.is_of_one_moment) continue;
        once.file.hash = Hash::of(once.file.bytes);
        return std::move(once.file);
    }
    return fail(Errc::unavailable, "busy",
                cat(path, " is being written; try again when its writer has finished"));
}

Result<Listing> DiskFiles::list(std::size_t limit, const IgnoreNames& ignore) {
    Listing listing;
    walk(root_.get(), ignore, Enter::usual, [&](const Found& found) {
        if (is_draft(found.name)) return true;
        const bool is_link = S_ISLNK(found.status.st_mode);
        if (!is_link && !S_ISREG(found.status.st_mode)) return true;
        std::vector<Entry>& entries =
            utf8::is_valid(found.path) ? listing.entries : listing.unnamed;
        if (entries.size() == limit) {
            listing.truncated = true;
            return false;
        }
        const auto size = is_link ? 0 : static_cast<std::uint64_t>(found.status.st_size);
        entries.push_back({found.path, size, is_link, stamp_of(found.status)});
        return true;
    });
    std::ranges::sort(listing.entries,
                      [](const Entry& a, const Entry& b) { return a.path < b.path; });
    return listing;
}

// Runs at start, before anything is written.
Result<std::size_t> DiskFiles::sweep() {
    return sweep_into(*this);
}

Result<std::size_t> DiskFiles::sweep_into(DiskFiles& other) {
    std::vector<Found> left;
    walk(root_.get(), {}, Enter::usual, [&](const Found& found) {
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
        const Fd keep = TRY(other.make_parents(".quire/recovered"));
        const Fd parent =
            TRY(open_beneath(root_.get(), split(found.path).first, O_RDONLY | O_DIRECTORY));
        const bool is_moved =
            rename_noreplace(parent.get(), found.name, keep.get(), found.name) == 0 ||
            (errno == EXDEV && move_by_copy(parent.get(), found.name, keep.get()));
        if (is_moved) ++swept;
    }
    return swept;
}

// Creates one directory after the other, and syncs each parent, so that the new names survive a
// crash.
Result<Fd> DiskFiles::make_parents(const std::string& parent) {
    if (parent.starts_with('/')) return system_failure(EXDEV, parent, "cannot make the directory");
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

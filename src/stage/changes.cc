// The upper directory of an overlay has what changed: whole files, directories, and whiteouts
// (character devices 0:0) for what was deleted. A directory that took the place of a deleted one is
// opaque: nothing below it shows through.
//
// A command has made all of it, so nothing is trusted: every name is opened below its directory's
// descriptor, and no link is followed.
//
// Two trees are walked side by side: `upper`, and below it what the command saw before
// (LowerFolder). The live tree is asked a third time, for what others have done meanwhile. Bytes
// are compared only where both have a file of one size, because programs often write files again as
// they were.
#include "stage/changes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "fs/beneath.h"
#include "stage/lower_folder.h"

namespace quire::stage {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16;
// Deeper directories cannot be named in one path either.
constexpr int kDeepest = 512;

Failure io_error(const std::string& path) {
    return fail(Errc::unavailable, "io_error", cat(path, ": ", std::strerror(errno)),
                {{"path", path}});
}

struct Closer {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, Closer>;

// The sorted names in a directory; none where it cannot be opened.
std::optional<std::vector<std::string>> names_in(int at, const char* name) {
    const int fd = ::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    const Directory directory(::fdopendir(fd));
    std::vector<std::string> out;
    while (const dirent* const entry = ::readdir(directory.get())) {
        const std::string each = entry->d_name;
        if (each != "." && each != "..") out.push_back(each);
    }
    std::sort(out.begin(), out.end());
    return out;
}

Fd open_directory(int at, const std::string& name) {
    return Fd(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::int64_t changed_ns(const struct stat& found) {
    return std::int64_t{found.st_ctim.tv_sec} * 1'000'000'000 + found.st_ctim.tv_nsec;
}

std::string link_target(int at, const std::string& name) {
    std::string out(4096, 0);
    const ssize_t size = ::readlinkat(at, name.c_str(), out.data(), out.size());
    out.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return out;
}

// Returns true if both files have the same bytes; false also where one cannot be read.
bool same_bytes(int a_at, int b_at, const std::string& name) {
    const Fd a(::openat(a_at, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    const Fd b(::openat(b_at, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!a || !b) return false;
    std::vector<char> left(kBuffer), right(kBuffer);
    for (off_t at = 0;;) {
        const ssize_t count = ::pread(a.get(), left.data(), kBuffer, at);
        if (count != ::pread(b.get(), right.data(), kBuffer, at) || count < 0) return false;
        if (count == 0) return true;
        if (std::memcmp(left.data(), right.data(), static_cast<std::size_t>(count)) != 0)
            return false;
        at += count;
    }
}

class Walk {
public:
    Walk(int workspace, const std::vector<std::string>& hidden, std::int64_t began_ns)
        : workspace_(workspace), hidden_(hidden), began_ns_(began_ns) {}

    // `lower` may be none, where nothing shows through.
    // Names that only the lower folder has are as they were, unless the directory is opaque: then
    // they are gone.
    Result<void> enter(const std::string& path, int upper, const LowerFolder& lower, int depth) {
        if (depth > kDeepest) return too_many();
        const auto names = names_in(upper, ".");
        if (!names) return io_error(path);
        const bool opaque = is_opaque(upper);
        for (const std::string& name : *names)
            TRY(look(path.empty() ? name : cat(path, "/", name), name, upper, lower, opaque,
                     depth));
        if (!opaque || !lower) return {};
        for (const std::string& name : lower.names()) {
            if (!std::binary_search(names->begin(), names->end(), name))
                TRY(deleted(path.empty() ? name : cat(path, "/", name), name, lower, depth));
        }
        return {};
    }

    // Stable, so that a deletion stays before what was made in its place.
    std::vector<StagedChange> take() {
        std::stable_sort(changes_.begin(), changes_.end(),
                         [](const auto& a, const auto& b) { return a.path < b.path; });
        return std::move(changes_);
    }

private:
    static Failure too_many() {
        return fail(Errc::out_of_range, "too_many_changes",
                    cat("the command changed more than ", kMostChanges, " files"),
                    {{"limit", kMostChanges}});
    }

    Result<void> add(StagedChange change) {
        if (changes_.size() >= kMostChanges) return too_many();
        changes_.push_back(std::move(change));
        return {};
    }

    // The workspace's entry now; none where there is none.
    std::optional<struct stat> live(const std::string& path) const {
        const auto [above, name] = fs::split(path);
        const Fd folder(fs::try_open_beneath(workspace_, above, O_PATH | O_DIRECTORY));
        struct stat found {};
        if (!folder || ::fstatat(folder.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
            return std::nullopt;
        return found;
    }

    // Notes where the change was made from. The bytes of a file in a generation are compared with those
    // that it has now by whoever commits the change; all else is compared here.
    void note_base(StagedChange& change, const std::optional<LowerFolder::Found>& before) const {
        change.is_based = before && !before->is_live;
        if (!before) return;
        if (before->is_live) {
            change.raced = changed_ns(before->status) >= began_ns_;
            return;
        }
        const std::optional<struct stat> now = live(change.path);
        const mode_t kind = before->status.st_mode & S_IFMT;
        if (!now || (now->st_mode & S_IFMT) != kind) {
            change.raced = true;
        } else if (kind == S_IFLNK) {
            change.raced = link_target(before->folder, fs::split(change.path).second) !=
                           live_target(change.path);
        } else if (change.mode_changed) {
            change.raced = (now->st_mode & 07777) != (before->status.st_mode & 07777);
        }
    }

    std::string live_target(const std::string& path) const {
        const auto [above, name] = fs::split(path);
        const Fd folder(fs::try_open_beneath(workspace_, above, O_PATH | O_DIRECTORY));
        return folder ? link_target(folder.get(), name) : std::string();
    }

    // Looks at one path of the upper directory.
    Result<void> look(const std::string& path, const std::string& name, int upper,
                      const LowerFolder& lower, bool opaque, int depth) {
        struct stat now {};
        if (::fstatat(upper, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) return io_error(path);
        // An opaque directory's former entries were deleted first.
        const std::optional<LowerFolder::Found> before = lower.look(name);
        if (is_whiteout(now)) {
            if (before) TRY(deleted(path, name, lower, depth));
            return {};
        }
        const mode_t was = before ? before->status.st_mode : 0;
        StagedChange change{path};
        change.mode = now.st_mode & 07777;
        make_readable(upper, name, now);
        change.mode_changed = before && change.mode != (was & 07777);
        note_base(change, before);
        if (S_ISDIR(now.st_mode)) {
            const Fd directory = open_directory(upper, name);
            if (!directory) return io_error(path);
            const bool merges = S_ISDIR(was);
            if (before && !merges) TRY(deleted(path, name, lower, depth));
            change.is_directory = true;
            change.kind = merges ? ChangeKind::mode : ChangeKind::directory;
            if (!merges || change.mode_changed) TRY(add(change));
            return enter(path, directory.get(), merges ? lower.enter(name) : LowerFolder(),
                         depth + 1);
        }
        if (before && (S_ISDIR(was) || S_ISLNK(now.st_mode) != S_ISLNK(was)))
            TRY(deleted(path, name, lower, depth));
        if (S_ISLNK(now.st_mode)) {
            change.kind = ChangeKind::link;
            change.target = link_target(upper, name);
            const bool same = S_ISLNK(was) && link_target(before->folder, name) == change.target;
            if (!before) note_new(change);
            return same ? Result<void>() : add(std::move(change));
        }
        if (!S_ISREG(now.st_mode)) {
            change.kind = ChangeKind::special;
            return add(std::move(change));
        }
        if (!S_ISREG(was)) {
            change.kind = ChangeKind::created;
            if (!before) note_new(change);
            return add(std::move(change));
        }
        const bool same = !opaque && now.st_size == before->status.st_size &&
                          same_bytes(upper, before->folder, name);
        if (same && !change.mode_changed) return {};
        change.kind = same ? ChangeKind::mode : ChangeKind::modified;
        return add(std::move(change));
    }

    // Somebody else may have made a file of that name while the command ran.
    void note_new(StagedChange& change) const {
        if (!std::binary_search(hidden_.begin(), hidden_.end(), change.path))
            change.raced = live(change.path).has_value();
    }

    // The command may have taken our own right to read away. Its processes are gone, so the name is
    // still what was looked at.
    static void make_readable(int upper, const std::string& name, const struct stat& now) {
        const mode_t needed = S_ISDIR(now.st_mode) ? 0700 : S_ISREG(now.st_mode) ? 0400 : 0;
        if ((now.st_mode & needed) != needed)
            ::fchmodat(upper, name.c_str(), (now.st_mode & 07777) | needed, 0);
    }

    // A path of the workspace that is gone, with all that was below it. Returns false if something
    // stays there: what the command did not see it did not delete, nor the directories above that.
    Result<bool> deleted(const std::string& path, const std::string& name, const LowerFolder& lower,
                         int depth) {
        if (depth > kDeepest) return too_many();
        if (std::binary_search(hidden_.begin(), hidden_.end(), path)) return false;
        const std::optional<LowerFolder::Found> before = lower.look(name);
        if (!before) return true;
        StagedChange change{path, ChangeKind::deleted};
        change.is_directory = S_ISDIR(before->status.st_mode);
        change.was_link = S_ISLNK(before->status.st_mode);
        note_base(change, before);
        const bool is_directory = change.is_directory;
        const std::size_t place = changes_.size();
        TRY(add(std::move(change)));
        if (!is_directory) return true;
        const LowerFolder directory = lower.enter(name);
        if (!directory) return io_error(path);
        bool is_gone = true;
        for (const std::string& each : directory.names()) {
            if (!TRY(deleted(cat(path, "/", each), each, directory, depth + 1))) is_gone = false;
        }
        if (!is_gone) changes_.erase(changes_.begin() + static_cast<std::ptrdiff_t>(place));
        return is_gone;
    }

    const int workspace_;
    const std::vector<std::string>& hidden_;
    const std::int64_t began_ns_;
    std::vector<StagedChange> changes_;
};

}  // namespace

Result<std::vector<StagedChange>> changes_in(const std::string& workspace, const std::string& upper,
                                             const std::vector<std::string>& hidden,
                                             std::int64_t began_ns,
                                             const std::vector<std::string>& layers) {
    const Fd top = open_directory(AT_FDCWD, upper);
    const Fd live = open_directory(AT_FDCWD, workspace);
    if (!top || !live) return io_error(upper);
    const LowerFolder lower = TRY(LowerFolder::open(layers, workspace));
    std::vector<std::string> sorted = hidden;
    std::sort(sorted.begin(), sorted.end());
    Walk walk(live.get(), sorted, began_ns);
    TRY(walk.enter("", top.get(), lower, 0));
    return walk.take();
}

Result<std::string> staged_bytes(const std::string& upper, const std::string& path,
                                 std::size_t limit) {
    Fd at = open_directory(AT_FDCWD, upper);
    std::size_t begin = 0;
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', begin)) {
        at = open_directory(at.get(), path.substr(begin, end - begin));
        if (!at) return io_error(path);
        begin = end + 1;
    }
    const Fd file(::openat(at.get(), path.substr(begin).c_str(),
                           O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat found {};
    if (!file || ::fstat(file.get(), &found) != 0) return io_error(path);
    if (static_cast<std::uint64_t>(found.st_size) > limit) {
        return fail(Errc::out_of_range, "too_large",
                    cat(path, " has ", found.st_size, " bytes, more than ", limit),
                    {{"path", path}, {"limit", limit}, {"size", found.st_size}});
    }
    std::string out(static_cast<std::size_t>(found.st_size), 0);
    std::size_t count = 0;
    while (count < out.size()) {
        const ssize_t more =
            ::pread(file.get(), out.data() + count, out.size() - count, static_cast<off_t>(count));
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) return io_error(path);
        count += static_cast<std::size_t>(more);
    }
    return out;
}

}  // namespace quire::stage

// Copies one tree into a new layer. A file is read while others may write to it, so its status is
// compared before and after; a copy that was torn is made again. Block sharing and holes are left
// to fs::copy_bytes().
#include "stage/layer_writer.h"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "fs/beneath.h"
#include "fs/copy_bytes.h"

namespace quire::stage {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// A file that is written to all the time is copied so often, and then taken as it is.
constexpr int kMostTries = 3;

std::int64_t ns_of(const timespec& time) {
    return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

// Sets the modification time; the time of the last access is of no interest.
void set_time(int at, const char* path, std::int64_t modified_ns, int flags) {
    const timespec times[2] = {
        {0, UTIME_OMIT},
        {static_cast<time_t>(modified_ns / kSecond), static_cast<long>(modified_ns % kSecond)}};
    ::utimensat(at, path, times, flags);
}

}  // namespace

SourceStatus::SourceStatus(const struct stat& found)
    : mode(found.st_mode),
      user(found.st_uid),
      group(found.st_gid),
      inode(found.st_ino),
      size(static_cast<std::uint64_t>(found.st_size)),
      modified_ns(ns_of(found.st_mtim)),
      changed_ns(ns_of(found.st_ctim)) {}

std::string SourceFolder::path() const {
    return parent == nullptr ? "" : parent->path_of(name);
}

std::string SourceFolder::path_of(std::string_view entry) const {
    const std::string own = path();
    return own.empty() ? std::string(entry) : cat(own, "/", entry);
}

std::size_t SourceFolder::depth() const {
    return parent == nullptr ? 0 : parent->depth() + 1;
}

std::string LayerWriter::place(const SourceFolder& folder, std::string_view name) const {
    const std::string path = name.empty() ? folder.path() : folder.path_of(name);
    return path.empty() ? directory_ : cat(directory_, "/", path);
}

Result<void> LayerWriter::count(std::uint64_t blocks) {
    bytes_ += blocks * 512;
    if (bytes_ <= most_bytes_) return {};
    return fail(Errc::out_of_range, "too_large",
                cat("a copy of the workspace's files needs more than the ", most_bytes_,
                    " bytes that it may take ([shell] disk_bytes)"),
                {{"limit", most_bytes_}});
}

Result<void> LayerWriter::folder(SourceFolder& folder) {
    if (folder.made_in == name_) return {};
    if (folder.parent != nullptr) TRY(this->folder(*folder.parent));
    const std::string to = place(folder);
    if (::mkdir(to.c_str(), 0700) != 0 && errno != EEXIST)
        return fs::system_failure(errno, to, "cannot make");
    folder.made_in = name_;
    folders_[to] = folder.status;
    return count(8);
}

Result<LayerWriter::Put> LayerWriter::copy(SourceFolder& folder, const std::string& name, int live,
                                           SourceStatus& status) {
    TRY(this->folder(folder));
    const std::string to = place(folder, name);
    return S_ISLNK(status.mode) ? copy_link(to, name, live, status)
                                : copy_file(to, name, live, status);
}

Result<LayerWriter::Put> LayerWriter::copy_file(const std::string& to, const std::string& name,
                                                int live, SourceStatus& status) {
    const Fd from(::openat(live, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!from) return errno == EACCES || errno == EPERM ? Put::unreadable : Put::gone;
    struct stat before {};
    if (::fstat(from.get(), &before) != 0 || !S_ISREG(before.st_mode)) return Put::gone;
    const Fd file(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return fs::system_failure(errno, to, "cannot make");
    for (int turn = 0; turn < kMostTries; ++turn) {
        if (turn != 0 &&
            (::ftruncate(file.get(), 0) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0 ||
             ::lseek(from.get(), 0, SEEK_SET) != 0))
            return fs::system_failure(errno, to, "cannot write");
        TRY(fs::copy_bytes(from.get(), file.get(), to));
        struct stat after {};
        if (::fstat(from.get(), &after) != 0) return fs::system_failure(errno, to, "cannot read");
        const bool is_same = SourceStatus(before) == SourceStatus(after);
        before = after;
        if (is_same) break;
    }
    status = SourceStatus(before);
    // Only root may give a file away, and giving it takes bits of its mode.
    static_cast<void>(!::fchown(file.get(), before.st_uid, before.st_gid));
    if (::fchmod(file.get(), before.st_mode & 07777) != 0)
        return fs::system_failure(errno, to, "cannot set the permissions of");
    // The time of modification stays, by which git and make tell that a file is as it was.
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ::futimens(file.get(), times);
    struct stat made {};
    if (::fstat(file.get(), &made) != 0) return fs::system_failure(errno, to, "cannot look at");
    TRY(count(static_cast<std::uint64_t>(made.st_blocks)));
    return Put::done;
}

Result<LayerWriter::Put> LayerWriter::copy_link(const std::string& to, const std::string& name,
                                                int live, SourceStatus& status) {
    std::string target(static_cast<std::size_t>(PATH_MAX), '\0');
    const ssize_t size = ::readlinkat(live, name.c_str(), target.data(), target.size());
    if (size < 0) return Put::gone;
    target.resize(static_cast<std::size_t>(size));
    if (::symlink(target.c_str(), to.c_str()) != 0)
        return fs::system_failure(errno, to, "cannot make");
    static_cast<void>(!::lchown(to.c_str(), status.user, status.group));
    set_time(AT_FDCWD, to.c_str(), status.modified_ns, AT_SYMLINK_NOFOLLOW);
    return Put::done;
}

// The layers lie side by side, so a hard link reaches from one into the other. It costs no disk,
// and is counted in full all the same, as the older layer may go first.
Result<bool> LayerWriter::share(SourceFolder& folder, const std::string& name,
                                const std::string& layer, const SourceStatus& status) {
    TRY(this->folder(folder));
    const std::string below = directory_.substr(0, directory_.size() - name_.size());
    const std::string from = cat(below, layer, "/", folder.path_of(name));
    if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, place(folder, name).c_str(), 0) != 0)
        return false;
    TRY(count((status.size + 511) / 512));
    return true;
}

// A whiteout, which needs no privilege since Linux 5.8.
Result<void> LayerWriter::hide(SourceFolder& folder, const std::string& name) {
    TRY(this->folder(folder));
    const std::string to = place(folder, name);
    if (::mknod(to.c_str(), S_IFCHR, 0) != 0) return fs::system_failure(errno, to, "cannot hide");
    return {};
}

Result<void> LayerWriter::hide_below(SourceFolder& folder) {
    TRY(this->folder(folder));
    const std::string at = place(folder);
    if (::setxattr(at.c_str(), "user.overlay.opaque", "y", 1, 0) != 0)
        return fs::system_failure(errno, at, "cannot mark");
    return {};
}

// The deepest come first, because setting the properties of one may forbid entering it.
Result<void> LayerWriter::finish() {
    for (auto each = folders_.rbegin(); each != folders_.rend(); ++each) {
        const auto& [at, status] = *each;
        static_cast<void>(!::chown(at.c_str(), status.user, status.group));
        if (::chmod(at.c_str(), status.mode & 07777) != 0)
            return fs::system_failure(errno, at, "cannot set the permissions of");
        set_time(AT_FDCWD, at.c_str(), status.modified_ns, 0);
    }
    return {};
}

}  // namespace quire::stage

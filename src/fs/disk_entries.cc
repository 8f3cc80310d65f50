// Every path is split into its parent and its last name. The parent is opened beneath the root
// without following a link, and the last name is used in a call that does not follow one either, so
// a swapped component makes the call fail. Each operation is one step; directories that were made
// on the way to it stay after a failure.
#include "fs/disk_entries.h"

#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"

namespace quire::fs {
namespace {

constexpr std::uint32_t kPermissions = 0777;

bool is_link_at(int directory, const std::string& name) {
    struct stat found {};
    return ::fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISLNK(found.st_mode);
}

}  // namespace

Result<DiskEntries> DiskEntries::open(const std::string& directory) {
    const int fd = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return system_failure(errno, directory, "cannot open");
    return DiskEntries(Fd(fd));
}

Result<Fd> DiskEntries::parent_of(const std::string& path) const {
    return open_beneath(root_.get(), split(path).first, O_RDONLY | O_DIRECTORY);
}

Result<std::optional<EntryLook>> DiskEntries::look(const std::string& path) const {
    const auto [directory, name] = split(path);
    const Fd parent(try_open_beneath(root_.get(), directory, O_PATH | O_DIRECTORY));
    if (!parent) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return std::nullopt;
        return system_failure(errno, path, "cannot look at");
    }
    struct stat found {};
    if (::fstatat(parent.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
        return system_failure(errno, path, "cannot look at");
    }
    EntryLook out{kind_of(found), S_ISLNK(found.st_mode), found.st_mode & kPermissions, {}};
    if (!out.is_link) return out;
    std::string target(static_cast<std::size_t>(PATH_MAX), '\0');
    const ssize_t size = ::readlinkat(parent.get(), name.c_str(), target.data(), target.size());
    if (size < 0) return system_failure(errno, path, "cannot read the link");
    target.resize(static_cast<std::size_t>(size));
    out.target = std::move(target);
    return out;
}

Result<void> DiskEntries::make_directory(const std::string& path, std::uint32_t mode) const {
    for (std::size_t at = path.find('/');; at = path.find('/', at + 1)) {
        const bool is_last = at == std::string::npos;
        const std::string part = path.substr(0, at);
        const Fd parent = TRY(parent_of(part));
        const std::string name = split(part).second;
        // A directory that another program makes at the same time is as good as ours.
        if (::mkdirat(parent.get(), name.c_str(), is_last ? mode & kPermissions : 0777) != 0 &&
            errno != EEXIST)
            return system_failure(errno, part, "cannot make the directory");
        if (!is_last) continue;
        struct stat found {};
        if (::fstatat(parent.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
            !S_ISDIR(found.st_mode)) {
            return fail(Errc::conflict, "file_exists",
                        cat(path, " is there, and is no directory; it was left as it is"),
                        {{"path", path}});
        }
        return {};
    }
}

Result<bool> DiskEntries::remove_directory(const std::string& path) const {
    const Fd parent = TRY(parent_of(path));
    if (::unlinkat(parent.get(), split(path).second.c_str(), AT_REMOVEDIR) == 0) return true;
    if (errno == ENOENT) return true;
    if (errno == ENOTEMPTY || errno == EEXIST) return false;
    return system_failure(errno, path, "cannot remove the directory");
}

// The new link is made aside and takes the other one's place in one step.
Result<void> DiskEntries::make_link(const std::string& path, const std::string& target) const {
    const auto [directory, name] = split(path);
    if (!directory.empty()) TRY(make_directory(directory, kPermissions));
    const Fd parent = TRY(parent_of(path));
    if (::symlinkat(target.c_str(), parent.get(), name.c_str()) == 0) return {};
    if (errno != EEXIST) return system_failure(errno, path, "cannot make the link");
    if (!is_link_at(parent.get(), name)) {
        return fail(Errc::conflict, "file_exists",
                    cat(path, " is there, and is no link; it was left as it is"), {{"path", path}});
    }
    const std::string aside = cat(".", name, ".quire-link-", ::getpid());
    if (::symlinkat(target.c_str(), parent.get(), aside.c_str()) != 0)
        return system_failure(errno, path, "cannot make the link");
    if (::renameat(parent.get(), aside.c_str(), parent.get(), name.c_str()) == 0) return {};
    const int error = errno;
    ::unlinkat(parent.get(), aside.c_str(), 0);
    return system_failure(error, path, "cannot replace the link");
}

Result<void> DiskEntries::remove_link(const std::string& path) const {
    const Fd parent = TRY(parent_of(path));
    const std::string name = split(path).second;
    if (!is_link_at(parent.get(), name)) {
        return fail(Errc::conflict, "path_changed",
                    cat(path, " is no link any more; it was left as it is"), {{"path", path}});
    }
    if (::unlinkat(parent.get(), name.c_str(), 0) == 0) return {};
    return system_failure(errno, path, "cannot remove the link");
}

Result<void> DiskEntries::set_mode(const std::string& path, std::uint32_t mode) const {
    // Its owner may change the permissions of what they may not open.
    const Fd file = TRY(open_beneath(root_.get(), path, O_PATH));
    const std::string name = cat("/proc/self/fd/", file.get());
    if (::chmod(name.c_str(), mode & kPermissions) == 0) return {};
    return system_failure(errno, path, "cannot set the permissions of");
}

}  // namespace quire::fs

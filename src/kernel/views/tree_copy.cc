// Git makes an empty work tree with HEAD as its index, where the workspace is the top of a
// repository with a commit; without git it is a plain directory. Then the workspace's files go
// there as they are on the disk, so that git shows what is not committed as changes of the tree.
// Bytes are cloned by the file system if it can (fs/copy_bytes.h), so a large workspace costs a
// listing and an inode a file.
#include "kernel/views/tree_copy.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/write_all.h"
#include "fs/copy_bytes.h"
#include "git/repository.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;

Failure copy_failed(const std::string& path, const char* what) {
    return fail(Errc::unavailable, "io_error", cat(what, " ", path, ": ", std::strerror(errno)),
                {{"path", path}});
}

Result<void> copy_file(const std::string& from, const std::string& to) {
    // O_NOFOLLOW and O_NONBLOCK: since the listing, the name may have become a link that leads out
    // of the workspace, or a pipe on which an open would wait.
    const Fd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    // It was removed, or has become something else, since it was listed.
    if (!source || ::fstat(source.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
    const Fd target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                           status.st_mode & 0777));
    if (!target) return copy_failed(to, "cannot make");
    TRY(fs::copy_bytes(source.get(), target.get(), to));
    // A build in the copy goes by these times, and would make everything anew without them. The
    // umask took bits from the mode that open() was given, so it is set once more.
    const std::array<timespec, 2> times = {status.st_atim, status.st_mtim};
    if (::fchmod(target.get(), status.st_mode & 0777) != 0 ||
        ::futimens(target.get(), times.data()) != 0)
        return copy_failed(to, "cannot set the times of");
    return {};
}

Result<void> fill(const std::string& workspace, const OpenTree& shared,
                  const fs::IgnoreNames& ignore, Function<bool(const std::string& path)>& sees,
                  const std::string& directory) {
    for (const fs::Entry& entry : TRY(shared.files().list(ignore))) {
        if (!sees(entry.path)) continue;
        const disk::path to = disk::path(directory) / entry.path;
        std::error_code failed;
        disk::create_directories(to.parent_path(), failed);
        const disk::path from = disk::path(workspace) / entry.path;
        if (entry.is_link) {
            disk::copy_symlink(from, to, failed);
        } else {
            TRY(copy_file(from.string(), to.string()));
        }
    }
    return {};
}

// A directory of trees in the workspace is no part of its files, for git, lists and searches alike.
void leave_out(const std::string& workspace, const disk::path& parent) {
    if (!parent.string().starts_with(workspace + "/")) return;
    const std::string file = (parent / ".gitignore").string();
    const Fd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (made) static_cast<void>(write_all(made.get(), "*\n"));
}

}  // namespace

Result<void> copy_tree(const std::string& workspace, const OpenTree& shared,
                       const fs::IgnoreNames& ignore, Function<bool(const std::string& path)> sees,
                       const std::string& directory, Clock& clock) {
    std::error_code failed;
    if (disk::exists(disk::symlink_status(directory, failed))) {
        return fail(Errc::conflict, "file_exists", cat(directory, " is there already"),
                    {{"directory", directory}});
    }
    const disk::path parent = disk::path(directory).parent_path();
    disk::create_directories(parent, failed);
    leave_out(workspace, parent);
    // A work tree of git has the same place in its repository as the workspace only at the top.
    const auto repository = git::Repository::find(workspace, clock);
    const bool in_git = repository && repository->prefix().empty() &&
                        repository->commit_of("HEAD").value_or(std::nullopt).has_value();
    const std::string branch = cat("worktree-", disk::path(directory).filename().string());
    if (!in_git || !repository->add_worktree(directory, branch)) {
        disk::create_directories(directory, failed);
        if (failed) {
            errno = failed.value();
            return copy_failed(directory, "cannot make");
        }
    }
    Result<void> filled = fill(workspace, shared, ignore, sees, directory);
    if (!filled) static_cast<void>(remove_tree(workspace, directory, clock));
    return filled;
}

Result<void> remove_tree(const std::string& workspace, const std::string& directory, Clock& clock) {
    std::error_code failed;
    disk::remove_all(directory, failed);
    if (failed) {
        errno = failed.value();
        return copy_failed(directory, "cannot remove");
    }
    if (const auto repository = git::Repository::find(workspace, clock))
        static_cast<void>(repository->forget_worktrees());
    return {};
}

}  // namespace quire::kernel

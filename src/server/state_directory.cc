// Everything is reached through the directory's descriptor, so that renaming the workspace while it
// is open changes nothing, and the length of its path does not matter. Locks are of the open file
// description (F_OFD_SETLK): they end with the descriptor, however the process ends.
#include "server/state_directory.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/concat.h"

namespace quire::server {

namespace {

constexpr const char* kSocket = "kernel.sock";
constexpr int kBacklog = 512;

Failure not_usable(const std::string& path, int error) {
    return fail(Errc::unavailable, "workspace_not_writable",
                cat("cannot use ", path, ": ", std::strerror(error)), {{"path", path}});
}

// A socket's address holds 107 bytes, and paths of workspaces may be longer. The directory's
// descriptor then serves as a short name.
sockaddr_un address_in(const Fd& directory, const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string name = cat(path, '/', kSocket);
    if (name.size() >= sizeof address.sun_path)
        name = cat("/proc/self/fd/", directory.get(), '/', kSocket);
    std::memcpy(address.sun_path, name.data(), name.size());
    return address;
}

const sockaddr* plain(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

// Root may serve any user: it could read the workspace anyway.
bool is_own_peer(const Fd& socket) {
    ucred peer = {};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == ::geteuid() || peer.uid == 0);
}

Result<std::string> root_of(const std::string& workspace) {
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(workspace.c_str(), nullptr),
                                                          std::free);
    if (!resolved) {
        return fail(Errc::not_found, "no_such_workspace",
                    cat("there is no directory ", workspace, " (", std::strerror(errno), ")"),
                    {{"path", workspace}});
    }
    return std::string(resolved.get());
}

}  // namespace

Result<StateDirectory> StateDirectory::open(const std::string& workspace) {
    const std::string root = TRY(root_of(workspace));
    const std::string path = root == "/" ? "/.quire" : root + "/.quire";
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return not_usable(path, errno);
    return at(root, path);
}

Result<StateDirectory> StateDirectory::at(const std::string& workspace, const std::string& path) {
    std::string root = TRY(root_of(workspace));
    Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status = {};
    if (!directory || ::fstat(directory.get(), &status) != 0) return not_usable(path, errno);
    if (status.st_uid != ::geteuid()) {
        return fail(Errc::denied, "foreign_workspace",
                    cat(path, " belongs to user ", status.st_uid,
                        "; only its owner may open this workspace"),
                    {{"path", path}});
    }
    if ((status.st_mode & 0077) != 0 && ::fchmod(directory.get(), status.st_mode & 0700) != 0)
        return not_usable(path, errno);
    return StateDirectory(std::move(root), path, std::move(directory));
}

Result<Fd> StateDirectory::listen() const {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return not_usable(file(kSocket), errno);
    remove_socket();
    const sockaddr_un address = address_in(directory_, path_);
    // The mode is set before bind() makes the file, so the socket is never open to other users.
    if (::fchmod(socket.get(), 0600) != 0 ||
        ::bind(socket.get(), plain(address), sizeof address) != 0 ||
        ::listen(socket.get(), kBacklog) != 0) {
        return not_usable(file(kSocket), errno);
    }
    return socket;
}

void StateDirectory::remove_socket() const {
    ::unlinkat(directory_.get(), kSocket, 0);
}

Result<Fd> StateDirectory::connect() const {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return not_usable(file(kSocket), errno);
    const sockaddr_un address = address_in(directory_, path_);
    while (::connect(socket.get(), plain(address), sizeof address) != 0) {
        if (errno == EINTR) continue;
        return fail(Errc::unavailable, "no_kernel",
                    cat("no kernel runs for ", workspace_, " (", std::strerror(errno), ")"),
                    {{"workspace", workspace_}});
    }
    if (!is_own_peer(socket)) {
        return fail(Errc::denied, "foreign_kernel",
                    cat("the socket of ", workspace_, " is another user's; nothing was sent"));
    }
    return socket;
}

Result<Fd> StateDirectory::claim_start(int timeout_ms) const {
    Fd lock(
        ::openat(directory_.get(), "start.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock) return not_usable(file("start.lock"), errno);
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    // Polled, because a lock cannot be waited for with a time limit.
    constexpr int kStepMs = 2;
    for (int waited = 0; ::fcntl(lock.get(), F_OFD_SETLK, &whole) != 0; waited += kStepMs) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return not_usable(file("start.lock"), errno);
        if (waited >= timeout_ms) {
            return fail(Errc::unavailable, "busy",
                        cat("another process has been starting a kernel for ", workspace_,
                            " for too long; see ", file("kernel.log")));
        }
        const timespec step = {0, kStepMs * 1'000'000L};
        ::nanosleep(&step, nullptr);
    }
    return lock;
}

}  // namespace quire::server

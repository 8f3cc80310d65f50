// Everything is reached through the directory's descriptor, so that renaming the workspace while it
// is open changes nothing, and the length of its path does not matter. Locks are of the open file
// description (F_OFD_SETLK): they end with the descriptor, however the process ends. The directory
// has mode 0700 and the socket 0600, and that is the whole access control: a process that reaches
// the socket may say to be any actor. A client asks the system whose process listens before it says
// anything.
//
//    kernel.sock      the kernel listens here; removed when it begins to end
//    kernel.sock.new  its name until listen() has succeeded
//    start.lock       held by the process that starts a kernel
//    lock             the store's: held by the kernel, with its process id as text
//    kernel.log       the output of kernels that were started in the background
#include "server/state_directory.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/file_rights.h"
#include "server/process_state.h"

namespace quire::server {

namespace {

constexpr const char* kSocket = "kernel.sock";
constexpr const char* kNewSocket = "kernel.sock.new";
// Many clients may start at once, and a full backlog makes connect() of a blocking socket wait.
constexpr int kBacklog = 512;

Failure not_usable(const std::string& path, int error) {
    const bool is_forbidden = error == EACCES || error == EPERM;
    std::string advice = is_forbidden ? missing_rights(path) : "";
    if (is_forbidden && advice.empty()) {
        advice = cat("give yourself the right to write in ", path.substr(0, path.rfind('/')),
                     " (chmod u+rwx)");
    }
    return fail(
        Errc::unavailable, "workspace_not_writable",
        cat("cannot use ", path, ": ", std::strerror(error), advice.empty() ? "" : "; ", advice),
        {{"path", path}});
}

// A socket's address holds 107 bytes, and paths of workspaces may be longer. The directory's
// descriptor then serves as a short name.
sockaddr_un address_in(const Fd& directory, const std::string& path, const char* file) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string name = cat(path, '/', file);
    if (name.size() >= sizeof address.sun_path)
        name = cat("/proc/self/fd/", directory.get(), '/', file);
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

// O_NOFOLLOW refuses a link in place of the directory: it could lead clients to a socket of
// somebody else. Rights of others are taken away from a directory that was made by hand or unpacked
// from an archive.
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
    // A kernel that died while it began to listen has left this file.
    if (::unlinkat(directory_.get(), kNewSocket, 0) != 0 && errno != ENOENT)
        return not_usable(file(kNewSocket), errno);
    const sockaddr_un address = address_in(directory_, path_, kNewSocket);
    // The mode is set before bind() makes the file, so the socket is never open to other users. It
    // gets its name once it listens: between bind() and listen() each connection is refused, and a
    // client that saw the file would hold the kernel for dead.
    if (::fchmod(socket.get(), 0600) != 0 ||
        ::bind(socket.get(), plain(address), sizeof address) != 0 ||
        ::listen(socket.get(), kBacklog) != 0 ||
        ::renameat(directory_.get(), kNewSocket, directory_.get(), kSocket) != 0) {
        return not_usable(file(kSocket), errno);
    }
    return socket;
}

void StateDirectory::remove_socket() const {
    ::unlinkat(directory_.get(), kSocket, 0);
}

// The path must still lead to the directory that is open here: in a directory that was exchanged a
// new socket would belong to another workspace.
bool StateDirectory::lacks_socket() const {
    struct stat own = {}, there = {}, socket = {};
    const bool is_here = ::fstat(directory_.get(), &own) == 0 &&
                         ::stat(path_.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
                         own.st_ino == there.st_ino;
    return is_here && ::fstatat(directory_.get(), kSocket, &socket, AT_SYMLINK_NOFOLLOW) != 0 &&
           errno == ENOENT;
}

Fd StateDirectory::watch_socket() const {
    Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    const bool watches = watch && ::inotify_add_watch(watch.get(), path_.c_str(),
                                                      IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR) >= 0;
    return watches ? std::move(watch) : Fd();
}

// The peer is checked before the caller sends its hello. A refused connection says no more than
// that nobody listens; the lock of the store tells a kernel that is ending, or has lost its socket,
// from none.
Result<Fd> StateDirectory::connect() const {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return not_usable(file(kSocket), errno);
    const sockaddr_un address = address_in(directory_, path_, kSocket);
    while (::connect(socket.get(), plain(address), sizeof address) != 0) {
        if (errno == EINTR) continue;
        if (errno == EACCES || errno == EPERM) return not_usable(file(kSocket), errno);
        if (holder() != 0) return unreachable();
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

Failure StateDirectory::unreachable() const {
    const int pid = holder();
    return fail(Errc::unavailable, "no_kernel",
                cat("process ", pid, " holds the workspace ", workspace_,
                    " and cannot be reached: there is no socket ", file(kSocket),
                    " that it listens on. ", advice_about(pid)),
                {{"workspace", workspace_}, {"pid", pid}});
}

// Asks who would be in the way of a lock without taking it. The system names no process for a lock
// of an open file description, so the kernel's own note in the file is read.
int StateDirectory::holder() const {
    const Fd lock(::openat(directory_.get(), "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (!lock || ::fcntl(lock.get(), F_OFD_GETLK, &whole) != 0 || whole.l_type == F_UNLCK) return 0;
    char digits[24] = {};
    int pid = 0;
    const ssize_t length = ::pread(lock.get(), digits, sizeof digits, 0);
    if (length > 0) std::from_chars(digits, digits + length, pid);
    return pid;
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

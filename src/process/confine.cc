// Two locks, because each leaves open what the other closes. Landlock says which paths may be read
// and written, and the program cannot get around it through links or open folders. A seccomp filter
// refuses the system calls by which a program reaches other processes, sockets and the metadata of
// files, which Landlock does not cover. Both are prepared before fork: the child only enters them,
// because between fork and exec it may not allocate.
#include "process/confine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/concat.h"

namespace quire::process {
namespace {

// Flags that Debian 12's headers lack: landlock.h of Linux 6.2.
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;
constexpr std::uint64_t kReads =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWrites = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                  LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                  LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                  LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                  LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
// A rule on a file, as opposed to a folder, may only contain these rights.
constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                   LANDLOCK_ACCESS_FS_READ_FILE | kTruncate;

// fchmodat2 of Linux 6.6, which libseccomp 2.5.4 cannot name. Its number is the same everywhere.
constexpr int kFchmodat2 = 452;

class Rules {
public:
    Rules(int fd, std::uint64_t handled) : fd_(fd), handled_(handled) {}

    // Allows access below a path. False with errno; anything but a folder, file or device is
    // skipped.
    bool allow(const std::string& path, std::uint64_t access, int flags = 0) const {
        const int at = ::open(path.c_str(), O_PATH | O_CLOEXEC | flags);
        if (at < 0) return false;
        struct stat found {};
        bool done = ::fstat(at, &found) == 0;
        if (done && !S_ISLNK(found.st_mode)) {
            landlock_path_beneath_attr rule{};
            rule.parent_fd = at;
            rule.allowed_access = access & handled_;
            if (!S_ISDIR(found.st_mode)) rule.allowed_access &= kOfFiles;
            done = ::syscall(SYS_landlock_add_rule, fd_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
        }
        const int error = errno;
        ::close(at);
        errno = error;
        return done;
    }

    // Allows everything beside `path` and beside the folders above it. A link is judged by its
    // target.
    void allow_beside(const std::filesystem::path& path) const {
        for (std::filesystem::path at = path; at.has_relative_path(); at = at.parent_path()) {
            std::error_code unread;
            for (const auto& entry :
                 std::filesystem::directory_iterator(at.parent_path(), unread)) {
                if (entry.path() != at)
                    static_cast<void>(allow(entry.path().string(), kReads, O_NOFOLLOW));
            }
        }
    }

private:
    int fd_;
    std::uint64_t handled_;
};

Failure no_confinement(Errc code, std::string_view why, Map details = {}) {
    return fail(code, "no_confinement", cat("it cannot be confined: ", why), std::move(details));
}

// System calls that a compiler does not need, and by which it would reach other processes, sockets
// or the metadata of files. They fail with EPERM. truncate is listed for systems whose Landlock
// does not know it. libseccomp skips calls that this machine does not have.
constexpr std::array kRefused = {SCMP_SYS(chmod),
                                 SCMP_SYS(fchmod),
                                 SCMP_SYS(fchmodat),
                                 kFchmodat2,
                                 SCMP_SYS(chown),
                                 SCMP_SYS(lchown),
                                 SCMP_SYS(fchown),
                                 SCMP_SYS(fchownat),
                                 SCMP_SYS(setxattr),
                                 SCMP_SYS(lsetxattr),
                                 SCMP_SYS(fsetxattr),
                                 SCMP_SYS(removexattr),
                                 SCMP_SYS(lremovexattr),
                                 SCMP_SYS(fremovexattr),
                                 SCMP_SYS(truncate),
                                 SCMP_SYS(socket),
                                 SCMP_SYS(connect),
                                 SCMP_SYS(io_uring_setup),
                                 SCMP_SYS(ptrace),
                                 SCMP_SYS(process_vm_readv),
                                 SCMP_SYS(process_vm_writev),
                                 SCMP_SYS(kill),
                                 SCMP_SYS(tkill),
                                 SCMP_SYS(rt_sigqueueinfo),
                                 SCMP_SYS(pidfd_send_signal),
                                 SCMP_SYS(pidfd_getfd),
                                 SCMP_SYS(setsid),
                                 SCMP_SYS(setpgid),
                                 SCMP_SYS(unshare),
                                 SCMP_SYS(setns),
                                 SCMP_SYS(mount),
                                 SCMP_SYS(bpf),
                                 SCMP_SYS(keyctl),
                                 SCMP_SYS(add_key),
                                 SCMP_SYS(request_key)};

// The filter as the kernel takes it. Calls of another architecture, and x32 calls on x86-64, fail
// with EPERM too. Errors: unavailable "no_confinement".
Result<std::vector<sock_filter>> make_filter() {
    constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
    const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(seccomp_init(SCMP_ACT_ALLOW),
                                                                  &seccomp_release);
    bool made = filter != nullptr &&
                seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, kRefuse) == 0 &&
                seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0;
    for (const int call : kRefused)
        made = made && seccomp_rule_add(filter.get(), kRefuse, call, 0) == 0;
    // libseccomp 2.5.4 exports to a descriptor only.
    const Fd file(::memfd_create("quire-seccomp", MFD_CLOEXEC));
    made = made && file && seccomp_export_bpf(filter.get(), file.get()) == 0;
    struct stat size {};
    made = made && ::fstat(file.get(), &size) == 0;
    std::vector<sock_filter> code(
        made ? static_cast<std::size_t>(size.st_size) / sizeof(sock_filter) : 0);
    const std::size_t bytes = code.size() * sizeof(sock_filter);
    if (code.empty() || ::pread(file.get(), code.data(), bytes, 0) != static_cast<ssize_t>(bytes))
        return no_confinement(Errc::unavailable, "no system call filter could be made");
    return code;
}

}  // namespace

Result<Cage> Cage::make(const Confinement& wanted) {
    const long version =
        ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return no_confinement(Errc::unsupported, "this system has no Landlock");
    landlock_ruleset_attr attributes{};
    attributes.handled_access_fs = kReads | kWrites;
    if (version >= 2) attributes.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) attributes.handled_access_fs |= kTruncate;
    const long fd =
        ::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes.handled_access_fs, 0);
    if (fd < 0) return no_confinement(Errc::unavailable, std::strerror(errno));
    Cage cage(Fd(static_cast<int>(fd)), TRY(make_filter()));
    const Rules rules(cage.rules_.get(), attributes.handled_access_fs);
    std::error_code error;
    const std::filesystem::path hidden =
        wanted.hidden.empty() ? "" : std::filesystem::weakly_canonical(wanted.hidden, error);
    if (error) return no_confinement(Errc::unavailable, error.message(), {{"path", wanted.hidden}});
    if (hidden.empty()) {
        if (!rules.allow("/", kReads))
            return no_confinement(Errc::unavailable, std::strerror(errno), {{"path", "/"}});
    } else {
        rules.allow_beside(hidden);
    }
    static_cast<void>(rules.allow("/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate));
    for (const std::string& path : wanted.writable) {
        if (!rules.allow(path, kReads | kWrites | kTruncate)) {
            return no_confinement(Errc::unavailable, cat(path, ": ", std::strerror(errno)),
                                  {{"path", path}});
        }
    }
    return cage;
}

int Cage::enter() const {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (::syscall(SYS_landlock_restrict_self, rules_.get(), 0) != 0) return errno;
    // The kernel only reads the filter; its interface lacks the const.
    const sock_fprog program{static_cast<unsigned short>(filter_.size()),
                             const_cast<sock_filter*>(filter_.data())};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
}

}  // namespace quire::process

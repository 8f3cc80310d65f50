// Two mechanisms complement each other. Landlock rules name the files that may be read and written;
// since Landlock can only allow, hiding one folder means allowing all its neighbours and those of
// every folder above it. Seccomp refuses the system calls by which a program reaches beyond files:
// sockets, tracing, signals, metadata. The filter is a short BPF program that jumps from number to
// number; it is built on the stack of the child, because nothing may be allocated between fork and
// exec. After enter() neither can be taken back.

#include "process/confine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
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

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "shell/confine.cc: name this architecture as linux/audit.h does"
#endif

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

// System calls that a compiler does not need and that reach what Landlock does not cover: other
// processes and file metadata. They fail with EPERM. truncate is listed for systems whose Landlock
// does not know it.
constexpr std::array kRefused = {
#if defined(__x86_64__)
    SYS_chmod, SYS_chown, SYS_lchown,
#endif
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_truncate, SYS_socket, SYS_connect,
    SYS_io_uring_setup, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kill,
    SYS_tkill, SYS_rt_sigqueueinfo, SYS_pidfd_send_signal, SYS_pidfd_getfd, SYS_setsid, SYS_setpgid,
    SYS_unshare, SYS_setns, SYS_mount, SYS_bpf, SYS_keyctl, SYS_add_key, SYS_request_key,
    // fchmodat2, of Linux 6.6.
    452};

sock_filter statement(std::uint16_t code, std::uint32_t value) {
    return {code, 0, 0, value};
}

// Jumps over the next `then` or `otherwise` statements.
sock_filter branch(std::uint16_t code, std::uint32_t value, std::uint8_t then,
                   std::uint8_t otherwise) {
    return {static_cast<std::uint16_t>(BPF_JMP | code | BPF_K), then, otherwise, value};
}

// Lives on the stack of the caller of enter(), since nothing may be allocated there.
struct Filter {
    std::array<sock_filter, 2 * kRefused.size() + 8> code{};
    std::size_t size = 0;

    void add(sock_filter each) { code[size++] = each; }
    Filter() {
        const auto refuse = statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
        add(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
        add(branch(BPF_JEQ, kArchitecture, 1, 0));
        add(refuse);
        add(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
        // Calls of the x32 interface of the same machine have their own numbers.
        add(branch(BPF_JGE, 0x40000000, 0, 1));
        add(refuse);
        for (const int call : kRefused) {
            add(branch(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 1));
            add(refuse);
        }
        add(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
};

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
    Cage cage(static_cast<int>(fd));
    const Rules rules(cage.rules_, attributes.handled_access_fs);
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

Cage::Cage(Cage&& other) noexcept : rules_(std::exchange(other.rules_, -1)) {}

Cage& Cage::operator=(Cage&& other) noexcept {
    std::swap(rules_, other.rules_);
    return *this;
}

Cage::~Cage() {
    if (rules_ >= 0) ::close(rules_);
}

int Cage::enter() const {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (::syscall(SYS_landlock_restrict_self, rules_, 0) != 0) return errno;
    Filter filter;
    const sock_fprog program{static_cast<unsigned short>(filter.size), filter.code.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
}

}  // namespace quire::process

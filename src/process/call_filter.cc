// A filter is collected with libseccomp in the parent and kept as BPF code. The child, which may
// not allocate, only hands the code to the kernel. A failure while collecting is remembered and
// told once, by make(), so that the lists of calls read as lists.
#include "process/call_filter.h"

#include <array>
#include <cerrno>

#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

namespace quire::process {
namespace {

// Calls that libseccomp 2.5.4 cannot name. Their numbers are the same everywhere.
constexpr int kFchmodat2 = 452;
constexpr int kSetxattrat = 463;
constexpr int kRemovexattrat = 466;
constexpr int kFileSetattr = 469;

constexpr std::array kMetadataCalls = {
    SCMP_SYS(chmod),       SCMP_SYS(fchmod),       SCMP_SYS(fchmodat),     kFchmodat2,
    SCMP_SYS(chown),       SCMP_SYS(lchown),       SCMP_SYS(fchown),       SCMP_SYS(fchownat),
    SCMP_SYS(setxattr),    SCMP_SYS(lsetxattr),    SCMP_SYS(fsetxattr),    kSetxattrat,
    SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), kRemovexattrat,
    kFileSetattr};

}  // namespace

CallFilterMaker::CallFilterMaker()
    : filter_(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release),
      made_(filter_ != nullptr &&
            seccomp_attr_set(filter_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM)) == 0 &&
            seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0) {}

// A call is refused with an errno and not by a signal: programs then report it or do without.
void CallFilterMaker::refuse(int call, int error, const std::vector<scmp_arg_cmp>& when) {
    made_ = made_ &&
            seccomp_rule_add_array(filter_.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                                   call, static_cast<unsigned>(when.size()), when.data()) == 0;
}

void CallFilterMaker::refuse_metadata() {
    for (const int call : kMetadataCalls) refuse(call, EPERM);
    // These change attributes through a descriptor that is open for reading.
    for (const std::uint64_t request :
         {std::uint64_t{FS_IOC_SETFLAGS}, std::uint64_t{FS_IOC_FSSETXATTR}})
        // Only the low 32 bits of the request are compared, as the kernel itself does.
        refuse(SCMP_SYS(ioctl), EPERM, {{1, SCMP_CMP_MASKED_EQ, 0xffffffffU, request}});
}

// libseccomp 2.5.4 exports to a descriptor only.
Result<CallFilter> CallFilterMaker::make() {
    const Fd file(::memfd_create("quire-seccomp", MFD_CLOEXEC));
    made_ = made_ && file && seccomp_export_bpf(filter_.get(), file.get()) == 0;
    struct stat size {};
    made_ = made_ && ::fstat(file.get(), &size) == 0;
    std::vector<sock_filter> code(
        made_ ? static_cast<std::size_t>(size.st_size) / sizeof(sock_filter) : 0);
    const std::size_t bytes = code.size() * sizeof(sock_filter);
    if (code.empty() || ::pread(file.get(), code.data(), bytes, 0) != static_cast<ssize_t>(bytes))
        return fail(Errc::unavailable, "no_confinement",
                    "it cannot be confined: no system call filter could be made");
    return CallFilter(std::move(code));
}

int CallFilter::enter() const {
    // The kernel only reads the filter; its interface lacks the const.
    const sock_fprog program{static_cast<unsigned short>(code_.size()),
                             const_cast<sock_filter*>(code_.data())};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
}

}  // namespace quire::process

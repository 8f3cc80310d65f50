// Two locks, because each leaves open what the other closes. Landlock says which paths may be read
// and written, and the program cannot get around it through links or open folders. A seccomp filter
// refuses the system calls by which a program reaches other processes, sockets and the metadata of
// files, which Landlock does not cover. Both are prepared before fork: the child only enters them,
// because between fork and exec it may not allocate.
#include "process/confine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <seccomp.h>
#include <sys/prctl.h>

#include "base/concat.h"

namespace quire::process {
namespace {

Failure no_confinement(Errc code, std::string_view why, Map details = {}) {
    return fail(code, "no_confinement", cat("it cannot be confined: ", why), std::move(details));
}

// System calls that a compiler does not need, and by which it would reach other processes or
// sockets. They fail with EPERM, as do those that change the metadata of files. truncate is listed
// for systems whose Landlock does not know it.
constexpr std::array kRefused = {SCMP_SYS(truncate),
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

// Errors: unavailable "no_confinement".
Result<CallFilter> make_filter() {
    CallFilterMaker maker;
    for (const int call : kRefused) maker.refuse(call, EPERM);
    maker.refuse_metadata();
    return maker.make();
}

}  // namespace

// A hidden folder may not exist yet, so its path is resolved as far as it goes. /dev/null is opened
// for writing by most programs; a system without it is no reason to refuse.
Result<Cage> Cage::make(const Confinement& wanted) {
    if (LandRules::version() < 1)
        return no_confinement(Errc::unsupported, "this system has no Landlock");
    LandRules rules = LandRules::make();
    if (!rules) return no_confinement(Errc::unavailable, std::strerror(errno));
    std::error_code error;
    const std::filesystem::path hidden =
        wanted.hidden.empty() ? "" : std::filesystem::weakly_canonical(wanted.hidden, error);
    if (error) return no_confinement(Errc::unavailable, error.message(), {{"path", wanted.hidden}});
    if (hidden.empty()) {
        if (!rules.allow("/", kLandReads))
            return no_confinement(Errc::unavailable, std::strerror(errno), {{"path", "/"}});
    } else {
        allow_beside(rules, {hidden.string()}, kLandReads);
    }
    static_cast<void>(rules.allow("/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE | kLandTruncate));
    for (const std::string& path : wanted.writable) {
        if (!rules.allow(path, kLandReads | kLandWrites)) {
            return no_confinement(Errc::unavailable, cat(path, ": ", std::strerror(errno)),
                                  {{"path", path}});
        }
    }
    return Cage(std::move(rules), TRY(make_filter()));
}

int Cage::enter() const {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (const int error = rules_.enforce(); error != 0) return error;
    return filter_.enter();
}

}  // namespace quire::process

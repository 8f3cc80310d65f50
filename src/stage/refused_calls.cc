// A list of what is refused, and not of what is allowed: commands are any programs, and a call that
// the list does not know would break them. The mounts are the first lock; this and Landlock stand
// behind them. Refused calls fail with EPERM, as for a user without the right, which programs
// expect.
#include "stage/refused_calls.h"

#include <array>
#include <cerrno>
#include <cstdint>

#include <asm/sockios.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "process/land_rules.h"

namespace quire::stage {
namespace {

// A number that Debian 12's headers lack; it is the same everywhere.
constexpr int kListmount = 458;

// Calls that no command needs, and by which it could leave its stage or reach what is outside.
constexpr std::array kRefused = {SCMP_SYS(mount),
                                 SCMP_SYS(umount2),
                                 SCMP_SYS(pivot_root),
                                 SCMP_SYS(chroot),
                                 SCMP_SYS(move_mount),
                                 SCMP_SYS(open_tree),
                                 SCMP_SYS(fsopen),
                                 SCMP_SYS(fsmount),
                                 SCMP_SYS(fsconfig),
                                 SCMP_SYS(fspick),
                                 SCMP_SYS(mount_setattr),
                                 SCMP_SYS(setns),
                                 SCMP_SYS(unshare),
                                 SCMP_SYS(bpf),
                                 SCMP_SYS(perf_event_open),
                                 SCMP_SYS(userfaultfd),
                                 SCMP_SYS(keyctl),
                                 SCMP_SYS(add_key),
                                 SCMP_SYS(request_key),
                                 SCMP_SYS(kexec_load),
                                 SCMP_SYS(kexec_file_load),
                                 SCMP_SYS(init_module),
                                 SCMP_SYS(finit_module),
                                 SCMP_SYS(delete_module),
                                 SCMP_SYS(ptrace),
                                 SCMP_SYS(process_vm_readv),
                                 SCMP_SYS(process_vm_writev),
                                 SCMP_SYS(pidfd_getfd),
                                 SCMP_SYS(io_uring_setup),
                                 SCMP_SYS(io_uring_enter),
                                 SCMP_SYS(io_uring_register),
                                 SCMP_SYS(open_by_handle_at),
                                 SCMP_SYS(name_to_handle_at),
                                 SCMP_SYS(fanotify_init),
                                 SCMP_SYS(swapon),
                                 SCMP_SYS(swapoff),
                                 SCMP_SYS(reboot),
                                 SCMP_SYS(settimeofday),
                                 SCMP_SYS(clock_settime),
                                 SCMP_SYS(clock_adjtime),
                                 SCMP_SYS(adjtimex),
                                 SCMP_SYS(quotactl),
                                 SCMP_SYS(acct),
                                 SCMP_SYS(syslog),
                                 SCMP_SYS(iopl),
                                 SCMP_SYS(ioperm),
                                 SCMP_SYS(sethostname),
                                 SCMP_SYS(setdomainname),
                                 SCMP_SYS(personality),
                                 SCMP_SYS(vhangup),
                                 kListmount};

// Calls by which a process without namespaces of its own would change something outside of its copy,
// besides those that change the metadata of files.
constexpr std::array kRefusedWithoutNamespaces = {SCMP_SYS(utime),
                                                  SCMP_SYS(utimes),
                                                  SCMP_SYS(futimesat),
                                                  SCMP_SYS(utimensat),
                                                  SCMP_SYS(truncate),
                                                  SCMP_SYS(kill),
                                                  SCMP_SYS(tkill),
                                                  SCMP_SYS(rt_sigqueueinfo),
                                                  SCMP_SYS(rt_tgsigqueueinfo),
                                                  SCMP_SYS(pidfd_send_signal),
                                                  SCMP_SYS(setsid),
                                                  SCMP_SYS(setpgid),
                                                  SCMP_SYS(shmget),
                                                  SCMP_SYS(shmat),
                                                  SCMP_SYS(msgget),
                                                  SCMP_SYS(msgsnd),
                                                  SCMP_SYS(semget),
                                                  SCMP_SYS(semop),
                                                  SCMP_SYS(semtimedop),
                                                  SCMP_SYS(mq_open),
                                                  SCMP_SYS(mq_unlink)};

scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
    return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void refuse_common(process::CallFilterMaker& maker) {
    for (const int call : kRefused) maker.refuse(call, EPERM);
    // New namespaces, by clone; clone3 hides its flags behind a pointer, and programs fall back.
    maker.refuse(SCMP_SYS(clone3), ENOSYS);
    for (const int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                           CLONE_NEWUTS, CLONE_NEWCGROUP}) {
        const auto bit = static_cast<std::uint64_t>(flag);
        maker.refuse(SCMP_SYS(clone), EPERM, {masked(0, bit, bit)});
    }
    // Devices. A device 0:0 would be a whiteout in the overlay.
    for (const std::uint64_t kind : {std::uint64_t{S_IFCHR}, std::uint64_t{S_IFBLK}}) {
        maker.refuse(SCMP_SYS(mknod), EPERM, {masked(1, S_IFMT, kind)});
        maker.refuse(SCMP_SYS(mknodat), EPERM, {masked(2, S_IFMT, kind)});
    }
    // Typing into a terminal that others read.
    for (const std::uint64_t request : {std::uint64_t{TIOCSTI}, std::uint64_t{TIOCLINUX}})
        maker.refuse(SCMP_SYS(ioctl), EPERM, {masked(1, 0xffffffffU, request)});
    // Sockets: the internet's, of the stage's own network, and those that list its interfaces. Those
    // of the file system would reach servers outside, through a read-only mount too.
    maker.refuse(SCMP_SYS(socket), EPERM, {{0, SCMP_CMP_LT, AF_INET, 0}});
    for (std::uint64_t family = AF_INET + 1; family < AF_MAX; ++family) {
        if (family != AF_INET6 && family != AF_NETLINK)
            maker.refuse(SCMP_SYS(socket), EPERM, {{0, SCMP_CMP_EQ, family, 0}});
    }
    maker.refuse(SCMP_SYS(socket), EPERM, {{0, SCMP_CMP_GE, AF_MAX, 0}});
}

}  // namespace

Result<process::CallFilter> make_filter() {
    process::CallFilterMaker maker;
    refuse_common(maker);
    return maker.make();
}

Result<process::CallFilter> make_narrow_filter(bool network) {
    process::CallFilterMaker maker;
    refuse_common(maker);
    for (const int call : kRefusedWithoutNamespaces) maker.refuse(call, EPERM);
    maker.refuse_metadata();
    if (!network) {
        for (const int family : {AF_INET, AF_INET6, AF_NETLINK}) {
            maker.refuse(SCMP_SYS(socket), EPERM,
                         {{0, SCMP_CMP_EQ, static_cast<scmp_datum_t>(family), 0}});
        }
    }
    // Signals to others: with a socket's or a pipe's events, and from a thread to one of another
    // process. Landlock tells a thread's own process from others; where it cannot yet, programs do
    // without signals between threads.
    for (const std::uint64_t command : {std::uint64_t{F_SETOWN}, std::uint64_t{F_SETOWN_EX}})
        maker.refuse(SCMP_SYS(fcntl), EPERM, {masked(1, 0xffffffffU, command)});
    for (const std::uint64_t request : {std::uint64_t{FIOSETOWN}, std::uint64_t{SIOCSPGRP}})
        maker.refuse(SCMP_SYS(ioctl), EPERM, {masked(1, 0xffffffffU, request)});
    if (process::LandRules::version() < process::LandRules::kScopesSignals)
        maker.refuse(SCMP_SYS(tgkill), EPERM);
    // The limits of other processes.
    maker.refuse(SCMP_SYS(prlimit64), EPERM, {{0, SCMP_CMP_NE, 0, 0}});
    return maker.make();
}

}  // namespace quire::stage

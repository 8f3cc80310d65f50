// Everything that allocates is done by make(), before the process is cloned; enter() runs in a copy
// of a process with many threads, where another thread may have held the allocator's lock.
//
// Mounts are made by file descriptors (fsopen, open_tree, move_mount): so a path needs no quoting,
// and what a mask will hide can be taken hold of before and put back into the mask after.
//
// The order of enter(): ids first, since a user without a mapping cannot make files; what stays
// visible is taken hold of before it is masked; the overlay is made while its upper directory may
// still be written; then all becomes read-only, is masked and shown again. Rights go last, as every
// step before needs them.
#include "stage/interior.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/concat.h"
#include "stage/places.h"
#include "stage/refused_calls.h"

namespace quire::stage {
namespace {

// The memory of each private file system, in bytes and in files.
constexpr std::uint64_t kPrivateBytes = std::uint64_t{1} << 30;
constexpr const char* kPrivateFiles = "200000";

constexpr std::array<const char*, 15> kSteps = {"nothing",
                                                "the mapping of the user",
                                                "private mounts",
                                                "holding what stays visible",
                                                "the overlay over the workspace",
                                                "making the file systems read-only",
                                                "the private file systems",
                                                "the private /dev",
                                                "the private /proc",
                                                "showing what stays visible",
                                                "the limits",
                                                "sealing",
                                                "the working directory",
                                                "dropping rights",
                                                "the program"};

std::vector<std::string> parents_of(const std::string& path) {
    std::vector<std::string> out;
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
        out.push_back(path.substr(0, at));
    out.push_back(path);
    return out;
}

// Returns 0 or an errno. The file must be there.
int write_file(const char* path, const std::string& text) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    const bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int error = done ? 0 : errno;
    ::close(fd);
    return error;
}

int set(int context, const char* key, const char* value) {
    return ::fsconfig(context, FSCONFIG_SET_STRING, key, value, 0);
}

// A file system that is mounted nowhere yet; -1 with errno.
int mounted(int context, unsigned attributes) {
    if (::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return -1;
    const int mount = ::fsmount(context, FSMOUNT_CLOEXEC, attributes);
    const int error = errno;
    ::close(context);
    errno = error;
    return mount;
}

int make_tmpfs(const char* bytes, const char* mode) {
    const int context = ::fsopen("tmpfs", FSOPEN_CLOEXEC);
    if (context < 0 || set(context, "size", bytes) != 0 ||
        set(context, "nr_inodes", kPrivateFiles) != 0 || set(context, "mode", mode) != 0)
        return -1;
    return mounted(context, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

int place(int mount, const char* path) {
    return ::move_mount(mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0 ? 0 : errno;
}

int set_attributes(int at, const char* path, unsigned flags, std::uint64_t attributes) {
    mount_attr wanted{};
    wanted.attr_set = attributes;
    return ::mount_setattr(at, path, flags, &wanted, sizeof wanted) == 0 ? 0 : errno;
}

// A path that leads to a descriptor. It has no character that would need quoting.
struct DescriptorPath {
    char text[32] = "/proc/self/fd/";
    explicit DescriptorPath(int fd) {
        char digits[12];
        std::size_t count = 0;
        for (int rest = fd; rest > 0 || count == 0; rest /= 10)
            digits[count++] = static_cast<char>('0' + rest % 10);
        char* end = text + std::strlen(text);
        while (count > 0) *end++ = digits[--count];
        *end = 0;
    }
};

int open_path(const char* path) {
    return ::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

// A new overlay whose changes are kept nowhere else than in its upper directory. -1 with errno.
int begin_overlay() {
    const int context = ::fsopen("overlay", FSOPEN_CLOEXEC);
    if (context < 0 || ::fsconfig(context, FSCONFIG_SET_FLAG, "userxattr", nullptr, 0) != 0)
        return -1;
    return context;
}

}  // namespace

Failure no_stage(std::string_view why, Map details) {
    return fail(Errc::unavailable, "no_stage", cat("the command cannot be staged: ", why),
                std::move(details));
}

const char* step_name(std::int32_t step) {
    const auto at = static_cast<std::size_t>(step);
    return at < kSteps.size() ? kSteps[at] : "something";
}

int Interior::namespaces() const {
    return CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
           CLONE_NEWCGROUP | (plan_.network ? 0 : CLONE_NEWNET);
}

Interior::Interior(InteriorPlan plan, process::LandRules rules, process::CallFilter filter)
    : plan_(std::move(plan)), rules_(std::move(rules)), filter_(std::move(filter)) {}

Result<Interior> Interior::make(InteriorPlan plan) {
    if (plan.workspace == "/") return no_stage("the workspace is the root of all files");
    // One filter for all: it takes a millisecond to make.
    static const Result<process::CallFilter> filter = make_filter();
    Interior made(std::move(plan), process::LandRules::make(), TRY(filter));
    const InteriorPlan& wanted = made.plan_;
    made.uid_map_ = cat(::geteuid(), " ", ::geteuid(), " 1\n");
    made.gid_map_ = cat(::getegid(), " ", ::getegid(), " 1\n");
    made.tmpfs_size_ = cat(std::min(kPrivateBytes, wanted.limits.memory_bytes));
    // Numbers up to 300 are not given out twice; threads have numbers too.
    made.pid_max_ = cat(300 + 4 * wanted.limits.processes, "\n");
    made.kernel_dir_ = wanted.workspace + "/.quire";
    for (const std::string& name : wanted.layers) cat_to(made.lower_, cat(name, ":"));
    made.lower_.reserve(made.lower_.size() + sizeof(DescriptorPath));

    const Places places = places_of(wanted.workspace, wanted.home, wanted.shown, wanted.network);
    for (const HiddenPlace& each : places.hidden)
        made.masks_.push_back({each.path, each.writable, parents_of(each.path)});
    for (const std::string& path : places.shown) made.shown_.push_back({path, parents_of(path)});
    for (const Mask& each : made.masks_) {
        if (!each.writable) made.wrapped_at_ = each.path;
    }
    if (!made.lower_.empty() && made.wrapped_at_.empty())
        return no_stage("there is no directory that will be empty");

    for (const char* const name : {"null", "zero", "full", "random", "urandom"}) {
        const std::string path = cat("/dev/", name);
        made.devices_.push_back({path, {path}});
    }
    made.overlay_ = {wanted.workspace, parents_of(wanted.workspace)};
    return made;
}

Refusal Interior::enter() {
    std::int32_t step = 0;
    int error = 0;
    const auto next = [&](int result) {
        ++step;
        error = result;
        return error == 0;
    };
    const auto own_mounts = [] {
        return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : errno;
    };
    const auto read_only = [] {
        return set_attributes(AT_FDCWD, "/", AT_RECURSIVE,
                              MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    };
    const auto go = [&] { return ::chdir(plan_.cwd.c_str()) == 0 ? 0 : errno; };
    if (next(map_ids()) && next(own_mounts()) && next(hold_shown()) && next(mount_overlay()) &&
        next(read_only()) && next(mask()) && next(make_devices()) && next(mount_proc()) &&
        next(show()) && next(limit()) && next(seal()) && next(go()) && next(drop_rights()))
        return {};
    return {step, error};
}

// The command keeps its own user and group. The system wants setgroups denied before it takes the
// groups' map.
int Interior::map_ids() const {
    if (const int error = write_file("/proc/self/uid_map", uid_map_); error != 0) return error;
    if (const int error = write_file("/proc/self/setgroups", "deny"); error != 0) return error;
    return write_file("/proc/self/gid_map", gid_map_);
}

// An overlay takes no layer that lies in another, as ours lie in the workspace. So the live tree gets an
// overlay of its own, over an empty directory, for it has a root of its own. Returns a descriptor of it, or
// -1 with errno.
int Interior::wrap_live_tree(int live) {
    const char* const at = wrapped_at_.c_str();
    const int empty_mount = clone_empty();
    if (empty_mount < 0) return -1;
    if (const int error = place(empty_mount, at); error != 0) return errno = error, -1;
    const int empty = open_path(at);
    if (empty < 0) return -1;
    const DescriptorPath above(live);
    const DescriptorPath below(empty);
    char lower[2 * sizeof(DescriptorPath) + 1] = {};
    std::size_t size = 0;
    for (const char* part : {above.text, ":", below.text}) {
        for (; *part != 0; ++part) lower[size++] = *part;
    }
    const int context = begin_overlay();
    if (context < 0 || set(context, "lowerdir", lower) != 0) return -1;
    const int wrapped = mounted(context, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (wrapped < 0) return -1;
    if (const int error = place(wrapped, at); error != 0) return errno = error, -1;
    return open_path(at);
}

int Interior::mount_overlay() {
    // Taken hold of here, for an overlay takes mounts of its own namespace only.
    int lower = open_path(plan_.workspace.c_str());
    const int upper = open_path(plan_.upper.c_str());
    const int work = open_path(plan_.work.c_str());
    if (lower < 0 || upper < 0 || work < 0) return errno;
    if (!lower_.empty()) {
        // The system takes 256 bytes, which paths of many layers would not fit into.
        if (::chdir(plan_.layers_in.c_str()) != 0) return errno;
        lower = wrap_live_tree(lower);
        if (lower < 0) return errno;
        // make() has left room for it.
        lower_ += DescriptorPath(lower).text;
    }
    const int context = begin_overlay();
    if (context < 0) return errno;
    const DescriptorPath alone(lower);
    const char* const all = lower_.empty() ? alone.text : lower_.c_str();
    if (set(context, "lowerdir", all) != 0 ||
        set(context, "upperdir", DescriptorPath(upper).text) != 0 ||
        set(context, "workdir", DescriptorPath(work).text) != 0)
        return errno;
    // Nothing of it outlives the command, so nothing need reach the disk. Since Linux 5.10.
    static_cast<void>(::fsconfig(context, FSCONFIG_SET_FLAG, "volatile", nullptr, 0));
    overlay_.mount = mounted(context, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    return overlay_.mount < 0 ? errno : 0;
}

int Interior::hold_shown() {
    empty_ = make_tmpfs("65536", "755");
    if (empty_ < 0) return errno;
    for (Shown& each : devices_) {
        each.mount = ::open_tree(AT_FDCWD, each.path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        if (each.mount < 0) return errno;
    }
    for (Shown& each : shown_) {
        each.mount = ::open_tree(AT_FDCWD, each.path.c_str(),
                                 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
        if (each.mount < 0) return errno;
        const int error = set_attributes(each.mount, "", AT_EMPTY_PATH | AT_RECURSIVE,
                                         MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
        if (error != 0) return error;
    }
    return 0;
}

// All places that nobody can write to are one empty file system.
int Interior::clone_empty() const {
    return ::open_tree(empty_, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
}

// A mask may lie in another one, whose empty file system lacks the directory for it.
int Interior::mask() {
    for (Mask& each : masks_) {
        for (const std::string& parent : each.parents) ::mkdir(parent.c_str(), 0755);
        each.mount = each.writable ? make_tmpfs(tmpfs_size_.c_str(), "1777") : clone_empty();
        if (each.mount < 0) return errno;
        // /dev gets a new file system below, and its shared memory with it.
        if (each.path == "/dev/shm") continue;
        if (const int error = place(each.mount, each.path.c_str()); error != 0) return error;
    }
    return 0;
}

int Interior::make_devices() {
    const int dev = make_tmpfs("65536", "755");
    if (dev < 0) return errno;
    if (const int error = place(dev, "/dev"); error != 0) return error;
    for (const Shown& each : devices_) {
        const int file = ::open(each.path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
        if (file < 0) return errno;
        ::close(file);
        if (const int error = place(each.mount, each.path.c_str()); error != 0) return error;
    }
    constexpr const char* kLinks[][2] = {{"/proc/self/fd", "/dev/fd"},
                                         {"/proc/self/fd/0", "/dev/stdin"},
                                         {"/proc/self/fd/1", "/dev/stdout"},
                                         {"/proc/self/fd/2", "/dev/stderr"},
                                         {"pts/ptmx", "/dev/ptmx"}};
    for (const auto& link : kLinks) {
        if (::symlink(link[0], link[1]) != 0) return errno;
    }
    for (const Mask& each : masks_) {
        if (each.path != "/dev/shm") continue;
        ::mkdir("/dev/shm", 01777);
        if (const int error = place(each.mount, "/dev/shm"); error != 0) return error;
    }
    // Terminals of its own; a program that needs one without them fails alone.
    ::mkdir("/dev/pts", 0755);
    const int context = ::fsopen("devpts", FSOPEN_CLOEXEC);
    if (context >= 0 && set(context, "ptmxmode", "0666") == 0) {
        const int terminals = mounted(context, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
        if (terminals >= 0) place(terminals, "/dev/pts");
    }
    return set_attributes(dev, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY);
}

int Interior::show() {
    const auto put = [](const Shown& each) {
        for (const std::string& parent : each.parents) ::mkdir(parent.c_str(), 0755);
        return place(each.mount, each.path.c_str());
    };
    for (const Shown& each : shown_) {
        if (const int error = put(each); error != 0) return error;
    }
    if (const int error = put(overlay_); error != 0) return error;
    // The kernel's own directory cannot even be seen.
    const int empty = clone_empty();
    if (empty < 0) return errno;
    if (const int error = place(empty, kernel_dir_.c_str()); error != 0) return error;
    return set_attributes(empty, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY);
}

int Interior::mount_proc() {
    const int context = ::fsopen("proc", FSOPEN_CLOEXEC);
    if (context < 0) return errno;
    proc_ = mounted(context, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    return proc_ < 0 ? errno : place(proc_, "/proc");
}

// The system's settings in /proc/sys belong to the user root, who may write them without any
// capability.
int Interior::seal() const {
    if (const int error = set_attributes(proc_, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY); error != 0)
        return error;
    for (const Mask& each : masks_) {
        if (each.writable) continue;
        const int error = set_attributes(each.mount, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY);
        if (error != 0) return error;
    }
    return 0;
}

int Interior::limit() const {
    const std::pair<__rlimit_resource_t, std::uint64_t> limits[] = {
        {RLIMIT_CORE, 0},
        {RLIMIT_NPROC, plan_.limits.processes * 4},
        {RLIMIT_DATA, plan_.limits.memory_bytes},
        {RLIMIT_FSIZE, plan_.limits.file_bytes}};
    for (const auto& [which, value] : limits) {
        const rlimit both{value, value};
        if (::setrlimit(which, &both) != 0) return errno;
    }
    // Older systems have one number for all; the watch over the command counts there.
    static_cast<void>(write_file("/proc/sys/kernel/pid_max", pid_max_));
    // The filter refuses new namespaces too.
    static_cast<void>(write_file("/proc/sys/user/max_user_namespaces", "0"));
    ::sethostname("stage", 5);
    return plan_.network ? 0 : bring_up_loopback();
}

int Interior::bring_up_loopback() const {
    const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (any < 0) return errno;
    ifreq request{};
    std::memcpy(request.ifr_name, "lo", 3);
    request.ifr_flags = IFF_UP;
    const int error = ::ioctl(any, SIOCSIFFLAGS, &request) == 0 ? 0 : errno;
    ::close(any);
    return error;
}

// Without Landlock the mounts alone hold.
int Interior::allow_writes() const {
    if (!rules_) return 0;
    const std::uint64_t all = process::kLandReads | process::kLandWrites | LANDLOCK_ACCESS_FS_REFER;
    constexpr std::uint64_t kInto = LANDLOCK_ACCESS_FS_WRITE_FILE | process::kLandTruncate;
    if (!rules_.allow("/", process::kLandReads)) return errno;
    if (!rules_.allow(plan_.workspace, all)) return errno;
    for (const Mask& each : masks_) {
        if (each.writable && !rules_.allow(each.path, all)) return errno;
    }
    for (const Shown& each : devices_) {
        if (!rules_.allow(each.path, kInto)) return errno;
    }
    static_cast<void>(rules_.allow("/dev/pts", kInto));
    return 0;
}

int Interior::drop_rights() const {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (const int error = allow_writes(); error != 0) return error;
    // Ends at the first right that the system does not know.
    for (unsigned long right = 0; right < 64 && ::prctl(PR_CAPBSET_DROP, right, 0, 0, 0) == 0;
         ++right) {
    }
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    if (::syscall(SYS_capset, &header, none) != 0) return errno;
    // The process is a copy of the kernel's, with all that is in its memory.
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
    if (rules_) {
        if (const int error = rules_.enforce(); error != 0) return error;
    }
    return filter_.enter();
}

}  // namespace quire::stage

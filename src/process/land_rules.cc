// The system calls of Landlock (landlock(7)), which glibc does not wrap. A rule grants access below
// an open path; there is no rule that takes access away, which is why allow_beside() walks around
// what is to be closed.
#include "process/land_rules.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quire::process {
namespace {

// A rule on a file, as opposed to a folder, may only contain these rights.
constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                   LANDLOCK_ACCESS_FS_READ_FILE | kLandTruncate;

// The struct of linux/landlock.h as Linux 6.12 has it. Debian 12's header ends with the first member.
struct Attributes {
    std::uint64_t handled_access_fs = 0;
    std::uint64_t handled_access_net = 0;
    std::uint64_t scoped = 0;
};
constexpr std::uint64_t kScopedSockets = 1;
constexpr std::uint64_t kScopedSignals = 2;

bool is_below_one(const std::string& path, const std::vector<std::string>& folders) {
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
        return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
    });
}

bool leads_to_one(const std::string& path, const std::vector<std::string>& others) {
    return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
        return other.starts_with(path) && other.size() > path.size() && other[path.size()] == '/';
    });
}

}  // namespace

// It goes down only into folders that lead to one of the paths, and allows all others whole. A
// folder that cannot be read is passed over, which leaves what is below it closed.
void allow_beside(const LandRules& rules, const std::vector<std::string>& paths,
                  std::uint64_t access) {
    std::vector<std::string> ahead = {""};
    while (!ahead.empty()) {
        const std::string folder = std::move(ahead.back());
        ahead.pop_back();
        std::error_code unread;
        for (const auto& entry :
             std::filesystem::directory_iterator(folder.empty() ? "/" : folder, unread)) {
            const std::string path = entry.path().string();
            if (is_below_one(path, paths)) continue;
            if (leads_to_one(path, paths)) {
                ahead.push_back(path);
            } else {
                static_cast<void>(rules.allow(path, access, O_NOFOLLOW));
            }
        }
    }
}

long LandRules::version() {
    return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

// Rights that this version of Landlock does not know must not be asked for, or the call fails. The
// struct is as long as its last member in use: an older system refuses members that it does not
// know.
LandRules LandRules::make(Reach reach) {
    const long version = LandRules::version();
    Attributes attributes;
    attributes.handled_access_fs = kLandReads | (kLandWrites & ~kLandTruncate);
    if (version >= 2) attributes.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) attributes.handled_access_fs |= kLandTruncate;
    std::size_t size = sizeof attributes.handled_access_fs;
    if (reach == Reach::each_other && version >= kScopesSignals) {
        attributes.scoped = kScopedSockets | kScopedSignals;
        size = sizeof attributes;
    }
    const long fd = ::syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    return {Fd(static_cast<int>(fd)), attributes.handled_access_fs};
}

// O_PATH opens whatever the path is without reading it. A link is not followed when the caller
// passes O_NOFOLLOW, and then needs no rule: what it leads to has one of its own or none.
bool LandRules::allow(const std::string& path, std::uint64_t access, int flags) const {
    const int at = ::open(path.c_str(), O_PATH | O_CLOEXEC | flags);
    if (at < 0) return false;
    struct stat found {};
    bool done = ::fstat(at, &found) == 0;
    if (done && !S_ISLNK(found.st_mode)) {
        landlock_path_beneath_attr rule{};
        rule.parent_fd = at;
        rule.allowed_access = access & handled_;
        if (!S_ISDIR(found.st_mode)) rule.allowed_access &= kOfFiles;
        done =
            ::syscall(SYS_landlock_add_rule, fd_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    }
    const int error = errno;
    ::close(at);
    errno = error;
    return done;
}

int LandRules::enforce() const {
    return ::syscall(SYS_landlock_restrict_self, fd_.get(), 0) == 0 ? 0 : errno;
}

}  // namespace quire::process

// LandRules: a Landlock rule set, which says what may be done below which paths. What no rule allows
// is refused.
//
// Making it allocates; allow() and enforce() only make system calls, and may be called between fork
// and exec.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <linux/landlock.h>

#include "base/fd.h"

namespace quire::process {

// A flag that Debian 12's headers lack: landlock.h of Linux 6.2.
inline constexpr std::uint64_t kLandTruncate = std::uint64_t{1} << 14;
inline constexpr std::uint64_t kLandReads =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
// All but moves between folders, which the callers decide on.
inline constexpr std::uint64_t kLandWrites =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
    LANDLOCK_ACCESS_FS_MAKE_SYM | kLandTruncate;

class LandRules {
public:
    // The version of Landlock's interface here; below 1 where there is none.
    static long version();
    // From this version on a set can keep signals among those who are under it.
    static constexpr long kScopesSignals = 6;
    // Whom those under the rules may send signals to, and reach by sockets with abstract names.
    // `each_other` is what `anyone` is before version kScopesSignals.
    enum class Reach { anyone, each_other };

    // A set without rules, for reads, writes and moves between folders, as far as this system knows
    // them. Not a set (operator bool), with errno, where there is no Landlock.
    static LandRules make(Reach reach = Reach::anyone);

    explicit operator bool() const { return static_cast<bool>(fd_); }
    // Allows access below a path, of what the set is for. False with errno; a link is skipped.
    bool allow(const std::string& path, std::uint64_t access, int flags = 0) const;
    // From now on the rules hold for this thread and all that it starts. Needs no_new_privs. Returns
    // 0 or an errno.
    int enforce() const;

private:
    LandRules(Fd fd, std::uint64_t handled) : fd_(std::move(fd)), handled_(handled) {}
    Fd fd_;
    std::uint64_t handled_;
};

// Allows this access below everything beside these paths and beside the folders above them, and so not below
// the paths themselves, which are absolute and without links. Entries that appear there later are not
// allowed. A link is judged by its target. O(entries of those folders, times the paths).
void allow_beside(const LandRules& rules, const std::vector<std::string>& paths,
                  std::uint64_t access);

}  // namespace quire::process

// Landlock's rules only ever add rights, so reading "everything but the workspace" is spelled as
// rights on all that lies beside it and beside the directories above it (process::allow_beside()).
#include "stage/land_interior.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/concat.h"
#include "stage/interior.h"
#include "stage/refused_calls.h"
#include "stage/twins.h"

namespace quire::stage {
namespace {

// Steps of step_name().
constexpr std::int32_t kLimitsStep = 10;
constexpr std::int32_t kRightsStep = 13;

int drop_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    return ::syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

}  // namespace

LandInterior LandInterior::observed(const Plan& plan) {
    return LandInterior(plan);
}

Result<LandInterior> LandInterior::landlock(const Plan& plan) {
    if (process::LandRules::version() < 1) return no_stage("this system has no Landlock");
    LandInterior made(plan);
    process::LandRules rules = process::LandRules::make(process::LandRules::Reach::each_other);
    if (!rules) return no_stage(cat("Landlock: ", std::strerror(errno)));
    std::vector<std::string> closed = twins_of(plan.workspace);
    closed.push_back(plan.workspace);
    process::allow_beside(rules, closed, process::kLandReads);
    constexpr std::uint64_t kInto = LANDLOCK_ACCESS_FS_WRITE_FILE | process::kLandTruncate;
    for (const char* const device : {"/dev/null", "/dev/zero", "/dev/full"})
        static_cast<void>(rules.allow(device, kInto));
    for (const std::string& path : plan.writable) {
        if (!rules.allow(path,
                         process::kLandReads | process::kLandWrites | LANDLOCK_ACCESS_FS_REFER))
            return no_stage(cat(path, ": ", std::strerror(errno)));
    }
    auto filter = TRY(make_narrow_filter(plan.network));
    made.locks_.emplace(Locks{std::move(rules), std::move(filter)});
    return made;
}

// Runs between clone and exec in memory that is shared with the first process: system calls only.
Refusal LandInterior::enter() {
    const std::pair<__rlimit_resource_t, std::uint64_t> limits[] = {
        {RLIMIT_CORE, 0}, {RLIMIT_DATA, memory_bytes_}, {RLIMIT_FSIZE, file_bytes_}};
    for (const auto& [which, value] : limits) {
        // A limit that the kernel itself has may be lower, and cannot be raised.
        rlimit now{};
        ::getrlimit(which, &now);
        const rlimit wanted{std::min<rlim_t>(value, now.rlim_max),
                            std::min<rlim_t>(value, now.rlim_max)};
        if (::setrlimit(which, &wanted) != 0) return {kLimitsStep, errno};
    }
    if (!locks_) return {};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {kRightsStep, errno};
    if (const int error = drop_capabilities(); error != 0) return {kRightsStep, error};
    if (const int error = locks_->rules.enforce(); error != 0) return {kRightsStep, error};
    if (const int error = locks_->filter.enter(); error != 0) return {kRightsStep, error};
    return {};
}

}  // namespace quire::stage

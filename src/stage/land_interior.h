// LandInterior: the confinement of the tiers `landlock` and `observed`, which have no namespaces.
//
// Under `landlock` the command may write to its copy of the workspace and to two private directories, and
// may read all that its user may, except the workspace itself. Landlock covers neither the permissions, owners,
// times and attributes of files nor other processes; so a filter refuses the calls that change those, those
// for signals, and those by which a process leaves its group, and no socket can be made. Under `observed`
// nothing holds the command back but the limits of a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/call_filter.h"
#include "process/land_rules.h"
#include "stage/confinement.h"

namespace quire::stage {

class LandInterior final : public Confinement {
public:
    // Paths are absolute and without links. `writable` is of no effect under `observed`.
    struct Plan {
        std::string workspace;
        std::vector<std::string> writable;  // Directories that are there.
        bool network = false;
        std::uint64_t memory_bytes = 0;
        std::uint64_t file_bytes = 0;
    };
    // Errors: unavailable "no_stage" where the system has no Landlock.
    static Result<LandInterior> landlock(const Plan& plan);
    static LandInterior observed(const Plan& plan);

    int namespaces() const override { return 0; }
    Refusal enter() override;

private:
    explicit LandInterior(const Plan& plan)
        : memory_bytes_(plan.memory_bytes), file_bytes_(plan.file_bytes) {}

    // The restrictions on the command; there are none under `observed`.
    struct Locks {
        process::LandRules rules;
        process::CallFilter filter;
    };
    std::optional<Locks> locks_;
    std::uint64_t memory_bytes_;
    std::uint64_t file_bytes_;
};

}  // namespace quire::stage

// Bubblewrap: the tier whose namespaces are made by the program bwrap, for systems that allow them to it
// alone.
// The command runs on a copy, at the workspace's own path. bwrap makes the mounts and namespaces,
// and the filter and the limits of a process are ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "stage/confinement.h"
#include "stage/land_interior.h"

namespace quire::stage {

// The path of the program; "" where PATH has none outside of the workspace.
std::string find_bubblewrap(const std::string& workspace);
// The reason why the program makes no namespaces here; "" if it does. It is asked once.
std::string bubblewrap_refusal(const std::string& program);

class Bubblewrap final : public Confinement {
public:
    // All paths are absolute and without links.
    struct Plan {
        std::string program;
        std::string workspace;
        std::string
            copy;  // A directory that the command sees, and changes, in the workspace's place.
        std::string cwd;                      // In the workspace.
        std::string home;                     // "" where there is none.
        std::vector<std::string> shown = {};  // As in InteriorPlan.
        bool network = false;
        std::uint64_t memory_bytes = 0;
        std::uint64_t file_bytes = 0;
    };
    // Errors: unavailable "no_stage" if the filter cannot be made.
    static Result<Bubblewrap> make(const Plan& plan);

    // The words that run a program so; those of the program follow.
    const std::vector<std::string>& words() const { return words_; }

    int namespaces() const override { return 0; }
    int inherited() const override { return filter_.get(); }
    // Sets the limits before bwrap starts, which hands them on.
    Refusal enter() override { return limits_.enter(); }

private:
    Bubblewrap(Fd filter, LandInterior limits)
        : filter_(std::move(filter)), limits_(std::move(limits)) {}

    std::vector<std::string> words_;
    Fd filter_;  // The code of the system call filter, in memory.
    LandInterior limits_;
};

}  // namespace quire::stage

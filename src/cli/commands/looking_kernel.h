// LookingKernel: a kernel of one command's own, on a private copy of a store that cannot be written:
// on a read-only file system, in a snapshot, in a backup. Where nothing is kept yet the copy is
// empty, so that a command which only looks makes nothing.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/commands/command.h"

namespace quire::cli {

// Returns true if the workspace has a store, and this process may not write it.
bool is_read_only(const std::string& workspace);
// Returns true if there is no .quire/: nothing of the workspace has been kept yet.
bool is_without_state(const std::string& workspace);

// Runs from its creation to its end, which removes the copy. It runs on threads of this process and
// listens in its own directory, so other clients do not find it.
class LookingKernel {
public:
    // Copies the store and starts. Prints what the store has lost. O(store). Errors: those of
    // KernelProcess::open(); unavailable "workspace_not_writable" when no temporary directory can
    // be made.
    static Result<std::unique_ptr<LookingKernel>> start(const Globals& globals);
    LookingKernel(const LookingKernel&) = delete;
    LookingKernel& operator=(const LookingKernel&) = delete;
    ~LookingKernel();

    const std::string& state() const;  // The directory in which it listens.

private:
    struct Body;
    explicit LookingKernel(std::unique_ptr<Body> body);
    std::unique_ptr<Body> body_;
};

}  // namespace quire::cli

// MountCalls: what the tools of other programs need of the kernel: what of them was approved is
// kept, and a person is asked where they are something else now. What a definition is, and whether
// it is another, is the caller's to know.
//
// Replies come exactly once, from any thread, and what they say is durable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/core/kernel.h"

namespace quire::kernel {

struct MountPin {
    std::string mount;
    Value body;  // The caller's own.
};

class MountCalls {
public:
    explicit MountCalls(Kernel& kernel);

    // All of them, by mount. Errors: those of the store; corrupt.
    Result<std::vector<MountPin>> pins() const;
    // Replaces that of the mount. The audit log has it as a call of "mounts/pin" with `arguments`.
    void pin(const Caller& by, MountPin what, Value arguments, Reply<void> reply);

    // Keeps a definition that is not approved. The audit log has no entry for it.
    void note(MountPin what, Reply<void> reply);

    // A tool that is not what was approved of it.
    struct Changed {
        std::string tool;  // Its published name.
        // The digest of the present tool; an approval is valid for it alone.
        std::string digest;
        std::string description;  // For the person.
        std::string message;      // For the caller.
    };
    // Whether a person lets the caller use it. Errors: escalation_required "escalation_required"
    // {tool, operation, permission, approver, approval_id}; those of asking (approvals.h).
    void admit(const Caller& by, Changed what, Reply<void> reply);

private:
    Kernel& kernel_;
    std::shared_ptr<Core> core_;
};

}  // namespace quire::kernel

// MountCalls: the kernel's part in the tools of other programs. It keeps the approved
// definitions, and asks a person when a tool has changed since. The caller knows what a
// definition is and when two of them differ.
//
// Replies come exactly once, from any thread, and what they say is durable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "kernel/core/caller.h"

namespace quire::kernel {

class Core;
class Kernel;

// The stored definitions of one mount.
struct MountPin {
    std::string mount;
    Value body;            // The caller's own.
    bool damaged = false;  // Only pins() says it: the record cannot be read, and pins nothing.
};

class MountCalls {
public:
    explicit MountCalls(Kernel& kernel);

    // All pins, by mount. Errors: those of the store.
    Result<std::vector<MountPin>> pins() const;
    // Replaces the pin of a mount. The audit log records it as a call of "mounts/pin" with
    // `arguments`.
    void pin(const Caller& by, MountPin what, Value arguments, Reply<void> reply);

    // Stores definitions that are not approved. The audit log has no entry for it.
    void note(MountPin what, Reply<void> reply);

    // A tool that differs from its approved definition.
    struct Changed {
        std::string tool;  // Its published name.
        // The digest of the present tool; an approval is valid for it alone.
        std::string digest;
        std::string description;  // For the person.
        std::string message;      // For the caller.
    };
    // Checks that a person lets the caller use the changed tool. Errors: escalation_required
    // "escalation_required" {tool, operation, permission, approver, approval_id}; those of
    // Approvals::ask().
    void admit(const Caller& by, Changed what, Reply<void> reply);

private:
    Kernel& kernel_;
    std::shared_ptr<Core> core_;
};

}  // namespace quire::kernel

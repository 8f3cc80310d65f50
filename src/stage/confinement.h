// Confinement: how a process gives up what its command must not have, for the tiers that do so.
#pragma once

#include <cstdint>

namespace quire::stage {

// The step that failed, with its errno.
struct Refusal {
    std::int32_t step = 0;
    std::int32_t error = 0;
};

class Confinement {
public:
    virtual ~Confinement() = default;
    // The flags for clone() with which the first process begins. 0: no namespace of its own. Then the
    // command itself is confined, and the first process, which ends what the command has started, is not.
    virtual int namespaces() const = 0;
    // A descriptor that the program inherits; -1 for none.
    virtual int inherited() const { return -1; }
    // For a process that is alone in its address space, or borrows its parent's: makes system calls only.
    // {0, 0} if all went well.
    virtual Refusal enter() = 0;
};

}  // namespace quire::stage

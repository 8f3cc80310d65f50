// RecoveryCalls: backup, salvage and check of the store of a running kernel. For the workspace's
// owner; no tool reaches it.
//
// Replies come exactly once, from any thread. Each call occupies one of the kernel's workers for as
// long as it takes; other calls go on.
#pragma once

#include <memory>
#include <string>

#include "base/function.h"
#include "kernel/core/caller.h"
#include "kernel/recovery/salvage.h"
#include "kernel/recovery/store_check.h"

namespace quire::kernel {

class Core;
class Kernel;

class RecoveryCalls {
public:
    explicit RecoveryCalls(Kernel& kernel);

    // Errors: those of store::Store::back_up().
    void back_up(const Caller& by, std::string file, Reply<void> reply);
    // Errors: those of kernel::salvage().
    void salvage(const Caller& by, std::string directory, SalvageOptions options,
                 Reply<Salvaged> reply);
    // Errors: those of check_store().
    void check(const Caller& by, Reply<StoreCheck> reply);

private:
    std::shared_ptr<Core> core_;
};

}  // namespace quire::kernel

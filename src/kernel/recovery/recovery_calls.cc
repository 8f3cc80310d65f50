#include "kernel/recovery/recovery_calls.h"

#include <utility>

#include "base/clock.h"
#include "kernel/core/core.h"
#include "sched/scheduler.h"
#include "store/store.h"

namespace quire::kernel {
namespace {

// Runs work() → Result<T> on a worker. A call that comes while the kernel closes is refused; one
// that has begun holds the core and goes on.
template <class T, class Work>
void at_work(Core& core, Reply<T> reply, Work work) {
    if (core.is_closing()) return reply(Failure(kernel_ending()));
    core.parts().scheduler.post(
        [reply = std::move(reply), work = std::move(work)]() mutable { reply(work()); });
}

}  // namespace

RecoveryCalls::RecoveryCalls(Kernel& kernel) : core_(kernel.core()) {}

void RecoveryCalls::back_up(const Caller&, std::string file, Reply<void> reply) {
    at_work<void>(*core_, std::move(reply), [core = core_, file = std::move(file)] {
        return core->parts().store.back_up(file);
    });
}

void RecoveryCalls::salvage(const Caller&, std::string directory, SalvageOptions options,
                            Reply<Salvaged> reply) {
    at_work<Salvaged>(
        *core_, std::move(reply),
        [core = core_, directory = std::move(directory), options = std::move(options)]() mutable {
            options.at_ms = core->parts().clock.wall_ms();
            return kernel::salvage(core->parts().store, directory, options);
        });
}

void RecoveryCalls::check(const Caller&, Reply<StoreCheck> reply) {
    at_work<StoreCheck>(*core_, std::move(reply),
                        [core = core_] { return check_store(core->parts().store, true); });
}

}  // namespace quire::kernel

// A pin is the record of what a person approved of a mount's tools. The digest of a changed tool
// stands in the target where a block has its schema, so an approval ends when the tool changes
// again.
#include "kernel/oversight/mount_calls.h"

#include <utility>

#include "base/bytes.h"
#include "base/concat.h"
#include "json/json.h"
#include "kernel/core/core.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/overseer.h"

namespace quire::kernel {
namespace {

constexpr std::string_view kMountKind = "mount";

store::Batch pin_batch(MountPin what) {
    store::Batch batch;
    batch.keep({.table = store::Table::mount_pins, .key = std::move(what.mount)},
               json::write(what.body));
    return batch;
}

}  // namespace

MountCalls::MountCalls(Kernel& kernel) : kernel_(kernel), core_(kernel.core()) {}

Result<std::vector<MountPin>> MountCalls::pins() const {
    std::vector<MountPin> out;
    for (const store::KeyedRecord& record :
         TRY(core_->parts().store.records(store::Table::mount_pins))) {
        // A record that is whole and no JSON was not written by us.
        auto body = json::parse(as_text(record.body));
        const bool is_damaged = record.damaged || !body;
        out.push_back({record.key.key, is_damaged ? Value() : std::move(*body), is_damaged});
    }
    return out;
}

void MountCalls::pin(const Caller& by, MountPin what, Value arguments, Reply<void> reply) {
    Admission(kernel_).run<void>(
        by, {.name = "mounts/pin", .arguments = std::move(arguments)}, std::move(reply),
        [core = core_, batch = pin_batch(std::move(what))](const Caller&,
                                                           Reply<void> pinned) mutable {
            core->parts().store.commit(std::move(batch), std::move(pinned));
        });
}

void MountCalls::note(MountPin what, Reply<void> reply) {
    if (core_->is_closing()) return reply(Failure(kernel_ending()));
    core_->parts().store.commit(pin_batch(std::move(what)), std::move(reply));
}

void MountCalls::admit(const Caller& by, Changed what, Reply<void> reply) {
    Overseer& overseer = Overseer::of(kernel_);
    policy::Target target{.kind = std::string(kMountKind),
                          .name = what.tool,
                          .block_id = {},
                          .schema = std::move(what.digest)};
    if (overseer.approved(by, target).has(policy::Operation::execute)) return reply({});
    Error refusal(Errc::escalation_required, "escalation_required", std::move(what.message),
                  {{"tool", std::move(what.tool)},
                   {"operation", name_of(policy::Operation::execute)},
                   {"permission", name_of(policy::Permission::human)},
                   {"approver", "human"}});
    overseer.ask(by,
                 Approvals::Wanted{policy::Operation::execute, policy::Permission::human,
                                   std::move(target), std::move(what.description)},
                 std::move(refusal), [reply = std::move(reply)](Error told) mutable {
                     reply(Failure(std::move(told)));
                 });
}

}  // namespace quire::kernel

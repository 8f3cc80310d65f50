// Overseer: the approvals and the audit log of one kernel. The kernel's core sees it as an
// Oversight; the use cases of this room use it directly.
#pragma once

#include <memory>

#include "kernel/core/kernel.h"
#include "kernel/core/oversight.h"
#include "kernel/oversight/approvals.h"
#include "kernel/oversight/audit.h"
#include "sched/guarded.h"

namespace quire::kernel {

// Opens a kernel whose calls are overseen, and logs its start. Errors: those of Kernel::open()
// and Approvals::open().
Result<std::unique_ptr<Kernel>> open_kernel(const Parts& parts);

// One per kernel, which keeps it alive.
class Overseer final : public Oversight {
public:
    Overseer(const Parts& parts, std::shared_ptr<Approvals> approvals);

    // The overseer of a kernel that open_kernel() opened.
    static Overseer& of(Kernel& kernel);

    Approvals& approvals() { return *approvals_; }
    AuditLog& audit() { return audit_; }

    // The operations that approvals let this call do there; one for this call alone counts as used
    // then.
    policy::Operations approved(const Caller& by, const policy::Target& target) override;
    policy::Operations approved(const Caller& by, LiveDocument& document) override;
    bool may_see(const policy::Actor& by, const store::DocumentRecord& memory) override;
    Result<std::string> plain_text(const Caller& by, LiveDocument& memory) override;
    Result<ShownMemory> shown_memory(LiveDocument& memory, const BlockAt* at) override;
    void ask(const Caller& by, policy::Target target, Error refusal,
             Function<void(Error)> tell) override;
    void ask(const Caller& by, LiveDocument& document, Error refusal,
             Function<void(Error)> tell) override;
    // Asks for something else than an operation on a document or file.
    void ask(const Caller& by, Approvals::Wanted what, Error refusal, Function<void(Error)> tell);
    // New requests are refused from now on as "kernel_ending"; the last entry of the log is in
    // last_batch().
    void close() override;
    store::Batch last_batch() override;

private:
    const Clock& clock_;
    const std::shared_ptr<Approvals> approvals_;
    AuditLog audit_;
    sched::Guarded<bool> closing_;
};

// The target of an approval for a document.
policy::Target target_of(LiveDocument& document);

}  // namespace quire::kernel

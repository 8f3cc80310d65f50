// AuditLog: what is called, what becomes of it, and what people answer, as entries of the store's
// chain (store/audit_chain.h). docs/formats/audit.md says what they hold.
//
// A call that may change something is written down before it does anything, and its end when it is
// answered; one that only reads, once, at its end. Entries wait in the store for a batch to take
// them along, so that none costs a flush of its own: whatever a call changes is durable with its
// entry or not at all.
//
// Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/enum_words.h"
#include "kernel/core/kernel.h"
#include "sched/guarded.h"

namespace quire::policy {
struct Approval;
}

namespace quire::kernel {

struct CallEnd;

class AuditLog {
public:
    // The longest that is shown of arguments and names, in code points.
    static constexpr std::size_t kShown = 200;

    AuditLog(store::Store& store, const Clock& clock) : store_(store), clock_(clock) {}

    void started(std::string_view version);
    // For the next call: 1, 2, ….
    std::uint64_t number();
    // Nothing for callers without a call that has a number. Error: unavailable "disk_full" where
    // the entry cannot even wait: then the call must change nothing. O(arguments).
    Result<void> begin(const Caller& by);
    // Entries that cannot wait are counted, and the next that can says how many are missing.
    void end(const Caller& by, const CallEnd& how);

private:
    struct State {
        std::uint64_t calls = 0;
        std::int64_t lost = 0;
    };
    bool say_what_is_lost(State& state);
    void note(std::string body);

    store::Store& store_;
    const Clock& clock_;
    sched::Guarded<State> state_;
};

// The bodies of entries that go with a batch. The last of a kernel:
std::string stopped_entry(const Clock& clock);
// A change of an approval, because of what `by` does.
enum class ApprovalChange { asked, approved, denied, used, returned, revoked, outdated };
constexpr auto words_of(ApprovalChange) {
    return word_table("asked", "approved", "denied", "used", "returned", "revoked", "outdated");
}
std::string approval_entry(const policy::Approval& approval, ApprovalChange change,
                           const policy::Actor& by, const Clock& clock);

}  // namespace quire::kernel

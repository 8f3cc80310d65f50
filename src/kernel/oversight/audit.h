// AuditLog: writes calls, their outcomes and people's answers as entries of the store's chain
// (store/audit_chain.h). docs/formats/audit.md describes the entries.
//
// A call that may change something is logged before it does anything, and its end when it is
// answered. A call that only reads is logged once, at its end. Entries wait in the store for the
// next batch, so that none costs a flush of its own: a change is durable together with its entry,
// or neither is.
//
// Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/enum_words.h"
#include "base/result.h"
#include "kernel/core/caller.h"
#include "sched/guarded.h"
#include "store/store.h"

namespace quire::policy {
struct Approval;
}

namespace quire::kernel {

struct CallEnd;
struct CommandRecord;

// Store and clock outlive it.
class AuditLog {
public:
    // The most code points that are logged of arguments and names.
    static constexpr std::size_t kShown = 200;
    // The most paths in one list of an entry; the rest is only counted. Blocks are never left out.
    static constexpr std::size_t kMostPaths = 100;

    AuditLog(store::Store& store, const Clock& clock) : store_(store), clock_(clock) {}

    // Logs the start of the kernel.
    void started(std::string_view version);
    // The number of the next call: 1, 2, and so on.
    std::uint64_t number();
    // Logs the beginning of a call; does nothing for callers without a numbered call. Error:
    // unavailable "disk_full" if the entry cannot even wait; then the call must change nothing.
    // O(arguments).
    Result<void> begin(const Caller& by);
    // Logs the end of a call. Entries that cannot wait are counted, and the next one that can
    // says how many are missing.
    void end(const Caller& by, const CallEnd& how);
    // Logs a shell command that has ended. `by` made the call that ran or started it. The entry of a
    // command that changed something is durable on return, unless the store refuses it. Blocks then.
    void ran(const Caller& by, const CommandRecord& what);
    // Logs a command whose commit was begun by a kernel that was killed, and is completed now. `by` has
    // the profile and the tool of the call, whose number was another kernel's. Blocks like ran(); false if
    // the store refused the entry.
    bool completed(const Caller& by, const CommandRecord& what);

private:
    struct State {
        std::uint64_t calls = 0;
        std::int64_t lost = 0;
    };
    bool say_what_is_lost(State& state);
    void note(std::string body);
    bool keep_command(Map body, const CommandRecord& what);

    store::Store& store_;
    const Clock& clock_;
    sched::Guarded<State> state_;
};

// Bodies of entries that are written with a batch. This is the last one of a kernel.
std::string stopped_entry(const Clock& clock);
// The changes of an approval's state that are logged.
enum class ApprovalChange { asked, approved, denied, used, returned, revoked, outdated };
constexpr auto words_of(ApprovalChange) {
    return word_table("asked", "approved", "denied", "used", "returned", "revoked", "outdated");
}
std::string approval_entry(const policy::Approval& approval, ApprovalChange change,
                           const policy::Actor& by, const Clock& clock);

}  // namespace quire::kernel

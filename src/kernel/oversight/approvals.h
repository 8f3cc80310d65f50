// Approvals: the ledger of requests to people and of their answers.
//
// An agent's call that needs a person's approval requests one here; a request that waits already
// is not made again. When a request or an answer has been reported, it is in the store and
// survives a crash. Only people answer (policy/approval.h).
//
// An approval for one call is spent when that call begins, durably and before anything is done,
// and is given back if the call was refused. After a crash in between it is lost; it never exists
// twice.
//
// Any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "kernel/core/caller.h"
#include "kernel/core/parts.h"
#include "policy/approval.h"
#include "sched/guarded.h"
#include "store/store.h"

namespace quire::kernel {

class Approvals : public std::enable_shared_from_this<Approvals> {
public:
    // The most unanswered requests of one actor and of all actors, and the number of settled
    // approvals that are kept.
    static constexpr std::size_t kPendingOfOne = 50;
    static constexpr std::size_t kPending = 1000;
    static constexpr std::size_t kKept = 1000;

    // Reads all approvals from the store. Errors: those of the store; corrupt.
    static Result<std::shared_ptr<Approvals>> open(const Parts& parts);

    // begin() spends approvals that are for this call alone, before it does anything; end() gives
    // them back if the call was refused. Errors: those of the store.
    void begin(const Caller& by, Reply<void> then);
    void end(const Caller& by, bool refused);

    // Returns true if of() may return anything. O(log agents).
    bool any_for(const Caller& by) const;
    // The escalating operations on this target that the call may do.
    policy::Operations of(const Caller& by, const policy::Target& target);

    // A request in the making.
    struct Wanted {
        policy::Operation operation = policy::Operation::overwrite;
        policy::Permission permission = policy::Permission::human;
        policy::Target target = {};
        std::string description = {};  // For a person to read; "" for the call as it is.
        std::string diff = {};         // A unified diff of its change.
    };
    // Requests an approval, or returns the one that waits for the same, with the diff of today. The
    // caller must have a call. Errors: denied "approval_denied"; unavailable "too_many_approvals" {limit, actor};
    // those of the store. O(approvals + call).
    void ask(const Caller& by, Wanted what, Reply<policy::Approval> reply);

    // `told` hears each answer once it is in the store and before the caller does, on the store's
    // thread. Before the first answer; there is one listener.
    using Listener = std::function<void(const policy::Approval&)>;
    void on_answer(Listener told);
    // `check` replies with whether what a person was asked about is still so. It is asked before each yes;
    // there is one. Before the first answer.
    using Check = std::function<void(const policy::Approval& asked, Reply<bool> reply)>;
    void before_yes(Check check);
    // Asks the check; true where there is none.
    void check(const policy::Approval& asked, Reply<bool> reply) const;

    // Approvals that wait or hold, or all that are kept, the oldest first.
    std::vector<policy::Approval> list(bool all) const;
    // The ids of those whose records are damaged. They allow nothing.
    std::vector<std::string> damaged() const;
    // Errors: not_found "invalid_reference" {approval_id}; corrupt if its record is damaged.
    Result<policy::Approval> find(const std::string& id) const;
    // Errors: those of find(), policy::resolve() and the store; conflict "already_resolved" while
    // another answer is on its way to the disk.
    void resolve(const std::string& id, const policy::Resolution& with, const policy::Actor& by,
                 Reply<policy::Approval> reply);
    // Marks an approval whose target is gone or has changed. Errors: those of resolve().
    void outdate(const std::string& id, Reply<policy::Approval> reply);

private:
    struct Entry {
        policy::Approval approval;
        bool stored = false;
        // The person whose answer is on its way to the disk.
        std::optional<policy::Actor> answering = {};
    };
    struct Held {
        std::string id;
        bool used = false;
    };
    struct State {
        std::map<std::string, Entry> all;
        std::set<std::string> damaged;  // Those whose records could not be read.
        std::map<policy::Actor, std::set<std::string>> granted;  // Those approved, by who asked.
        std::map<std::shared_ptr<const Call>, std::vector<Held>> held;  // For each call under way.
        Listener told = {};
        Check check = {};

        // Gives the approval a status, and keeps `granted` true.
        void set(Entry& entry, policy::Approval approval);
    };
    struct Asked;

    explicit Approvals(const Parts& parts) : parts_(parts) {}
    Asked take_ask(State& state, const Caller& by, policy::Ask&& ask, Wanted&& what);
    static std::int64_t free_moment(const State& state, std::int64_t now_ms);
    std::string new_id(const State& state);
    void forget_oldest(State& state, store::Batch& batch) const;
    using Change = std::function<Result<policy::Approval>(const policy::Approval&)>;
    static Result<policy::Approval> take_answer(State& state, const std::string& id,
                                                const policy::Actor& by, const Change& change);
    void answer(const std::string& id, const policy::Actor& by, const Change& change,
                Reply<policy::Approval> reply);

    const Parts parts_;
    sched::Guarded<State> state_;
};

}  // namespace quire::kernel

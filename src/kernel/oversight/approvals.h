// Approvals: the ledger of what was asked of people, and what they answered.
//
// An agent's call that may not be done without a person's approval asks for one here, and what was
// asked already is not asked again. Whoever is told of an ask or an answer finds it in the store
// after a crash. Nobody answers here but people (policy/approval.h).
//
// An approval for one call is spent when that call begins, durably and before anything is done, and
// given back where the call was refused: after a crash in between it is gone, and never there
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

#include "kernel/core/kernel.h"
#include "policy/approval.h"
#include "sched/guarded.h"

namespace quire::kernel {

class Approvals : public std::enable_shared_from_this<Approvals> {
public:
    // Unanswered asks of one actor, and of all; and of those that are over, how many are kept.
    static constexpr std::size_t kPendingOfOne = 50;
    static constexpr std::size_t kPending = 1000;
    static constexpr std::size_t kKept = 1000;

    // Errors: those of the store; corrupt.
    static Result<std::shared_ptr<Approvals>> open(const Parts& parts);

    // Before a call does anything, and when it has its answer. Errors: those of the store.
    void begin(const Caller& by, Reply<void> then);
    void end(const Caller& by, bool refused);

    // Whether of() may have anything. O(log agents).
    bool any_for(const Caller& by) const;
    // The operations that would escalate there and that the call may do.
    policy::Operations of(const Caller& by, const policy::Target& target);

    struct Wanted {
        policy::Operation operation = policy::Operation::overwrite;
        policy::Permission permission = policy::Permission::human;
        policy::Target target = {};
        std::string description = {};  // For a person to read; "" for the call as it is.
    };
    // The approval that now waits for a person, an older one where the same was asked before. The
    // caller has a call. Errors: denied "approval_denied"; unavailable "too_many_approvals" {limit,
    // actor}; those of the store. O(approvals + call).
    void ask(const Caller& by, Wanted what, Reply<policy::Approval> reply);

    // Approvals that wait or hold, or all that are kept; the oldest first.
    std::vector<policy::Approval> list(bool all) const;
    // Errors: not_found "invalid_reference" {approval_id}.
    Result<policy::Approval> find(const std::string& id) const;
    // Errors: those of find(), policy::resolve() and the store; conflict "already_resolved" while
    // another answer is on its way to the disk.
    void resolve(const std::string& id, const policy::Resolution& with, const policy::Actor& by,
                 Reply<policy::Approval> reply);
    // Marks an approval whose target is gone or has changed. The same errors.
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
        std::map<policy::Actor, std::set<std::string>> granted;  // Those approved, by who asked.
        std::map<std::shared_ptr<const Call>, std::vector<Held>> held;  // For each call under way.

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

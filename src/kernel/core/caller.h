// Callers of the kernel, and the calls in whose name they act.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "policy/actor.h"

namespace quire::kernel {

// A client's call in its own words: a person is asked to approve just this.
struct Call {
    std::string profile;  // Line numbers mean what this profile counts.
    std::string tool;
    Value arguments;
    bool reads = false;        // It changes nothing, whatever comes of it.
    std::uint64_t number = 0;  // Counted from the kernel's start; 0 where it is not logged.
    std::int64_t begun_ms = 0;
};

// Sends a client a message that it has not asked for: a method and its params. Any thread; it does
// not wait. It lives as long as the client's session.
using Notify = std::function<void(std::string_view method, Map params)>;

// An actor, its attached session, and whether it still wants the answer.
struct Caller {
    policy::Actor actor;
    std::uint64_t session = 0;
    // Looked at when the call's turn comes, and on the way by calls that take long, such as
    // commands.
    std::stop_token cancelled;
    // A call that needs a person's approval asks for it in this call's name; a caller without one
    // is refused as escalation_required with no approval_id.
    std::shared_ptr<const Call> call = nullptr;
    // Set while the call runs, if its change still needs a person's approval: the refusal that asks
    // for it. Whatever else refuses the call comes first, so it is given where the change would be
    // made (check_approved).
    std::shared_ptr<const Error> unapproved = nullptr;

    // Null where the client takes no such messages.
    std::shared_ptr<const Notify> notify = nullptr;

    // Error: `unapproved`.
    Result<void> check_approved() const {
        return unapproved == nullptr ? Result<void>() : Failure(*unapproved);
    }
    // Error: `unapproved`, with diff() for the person who is asked: the unified diff of what would
    // change. It is made for a refusal only.
    template <class Diff>
    Result<void> check_approved(Diff diff) const {
        if (unapproved == nullptr) return {};
        return Failure(with_diff(*unapproved, diff()));
    }

    // The refusal with the diff among its details, with what is hidden in it escaped, and 16 KiB of it
    // at most; the end of a longer one is counted. take_diff() takes it out again: the caller knows what it wanted.
    static Error with_diff(Error refusal, std::string diff);
    static std::string take_diff(Error& refusal);
};

}  // namespace quire::kernel

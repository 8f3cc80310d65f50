// InFlight: the batches of one document that are on their way to the store, and those who wait for
// them.
//
// Batches are numbered when they are submitted and end in that order. The first one that the store
// refuses leaves memory ahead of the disk: every waiter hears of it until mend().
//
//   submitted   1 2 3 4 5    a read that saw batch 4 waits for 4,
//   finished    1 2 3        and not for who made it
//
// Touched on the document's strand only. Waiters are few: those who read while a flush is under
// way. finish() looks at each of them once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "kernel/core/caller.h"

namespace quire::kernel {

class InFlight {
public:
    // The number of the batch that is submitted now. From 1 on.
    std::uint64_t submit() { return ++submitted_; }
    std::uint64_t last() const { return submitted_; }
    // Returns true if everything submitted is durable or refused.
    bool idle() const { return submitted_ == finished_; }
    // Why memory may be ahead of what the store took.
    const std::optional<Error>& refusal() const { return refusal_; }
    // Memory was loaded from the store anew.
    void mend() { refusal_.reset(); }

    // Runs then(Result<void>) once everything submitted so far is durable; at once if it is.
    template <class Then>
    void when_durable(Then then) {
        if (idle()) {
            then(durability());
        } else {
            waiters_.push_back({submitted_, std::move(then)});
        }
    }
    // The batches up to this one have ended. Calls `done` first, then those who waited.
    template <class Done>
    void finish(std::uint64_t batch, const Result<void>& result, Done done) {
        finished_ = batch;
        if (!result && !refusal_) refusal_ = result.error();
        done(result);
        // A waiter may submit or wait again: take out those that are due before calling any.
        std::vector<Waiter> due;
        std::erase_if(waiters_, [&](Waiter& waiter) {
            if (waiter.batch > finished_) return false;
            due.push_back(std::move(waiter));
            return true;
        });
        for (Waiter& waiter : due) waiter.then(durability());
    }

private:
    // A reply that waits for everything submitted up to `batch`.
    struct Waiter {
        std::uint64_t batch;
        Reply<void> then;
    };

    Result<void> durability() const {
        return refusal_ ? Result<void>(Failure(*refusal_)) : Result<void>();
    }

    std::uint64_t submitted_ = 0;
    std::uint64_t finished_ = 0;
    std::vector<Waiter> waiters_;
    std::optional<Error> refusal_;
};

}  // namespace quire::kernel

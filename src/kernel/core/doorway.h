// Doorway: calls enter a document one after another, and one of them may hold it.
//
// Touched on the document's strand only. A call that holds two documents holds the one with the
// lower key first, so that no two calls wait for each other. A strand alone does not keep calls
// apart: one that waits for the store in its middle leaves the strand, and others would run
// meanwhile. Core::run_alone() and calls on two documents hold the doorway for that reason. Reads
// wait there too.
#pragma once

#include <deque>
#include <utility>

#include "base/function.h"

namespace quire::kernel {

class Doorway {
public:
    // Runs the task, at once or, while the document is held, when it is released.
    template <class Task>
    void enter(Task task) {
        if (held_) {
            entering_.push_back(std::move(task));
        } else {
            task();
        }
    }
    // Until release() no other call enters.
    void hold();
    // Lets the calls in that have come meanwhile, in order; one of them may hold it again.
    void release();
    bool is_held() const { return held_; }

private:
    bool held_ = false;
    std::deque<Function<void()>> entering_;
};

}  // namespace quire::kernel

// GenerationKeeper: the workspace's generations (stage/generations.h) on a thread of their own, for the
// commands that run on them.
//
// The first command begins the first generation, which copies all files in the background; a stage whose
// command does not wait for it stands on the live tree. Later commands get the newest generation at once
// where nothing has happened to the files, and else wait until it has what has changed.
//
// Any thread may call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fs/ignore_names.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"
#include "stage/generation.h"

namespace quire {
class Clock;
}
namespace quire::stage {
class Generations;
}

namespace quire::kernel {

class GenerationKeeper {
public:
    // Generations take at most this part of [shell] disk_bytes, so that stages have the rest.
    static constexpr std::uint64_t kPartOfDisk = 2;

    // A generation for one command, or the reason why it has none.
    struct Answer {
        std::shared_ptr<const stage::Generation> generation;
        std::string why;
    };

    // The clock outlives it. Reads nothing yet.
    GenerationKeeper(std::string workspace, const Clock& clock);
    ~GenerationKeeper();  // Calls stop().

    // Removes in the background what a kernel that was killed has left. Call it before the first command.
    void sweep();
    // Settings for the next call on: the names of ignore files, and [shell] disk_bytes.
    void set(fs::IgnoreNames ignore, std::uint64_t disk_bytes);
    // Begins the first generation if there is none, and waits at most so long for one that is current; not
    // at all for the first where `waits_for_first` is false.
    Answer current(std::int64_t wait_ms, bool waits_for_first);
    // Generations do not work here, for this reason: no more are made.
    void give_up(std::string why);
    // The bytes that the newest generation takes on the disk.
    std::uint64_t disk_bytes() const;
    // Ends the copying, and waits for it. There are no generations afterwards.
    void stop();

private:
    struct Body;
    const std::shared_ptr<Body> body_;
    std::unique_ptr<sched::Pool> worker_;
};

}  // namespace quire::kernel

// HeldStages: the stages of commands whose changes wait for a person.
//
// A stage is taken back when its command is run again. It is given up when a person says no to its
// changes, when they are outdated, after a day, and where there are too many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/core/caller.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"
#include "stage/stage.h"

namespace quire {
class Clock;
}
namespace quire::policy {
struct Approval;
}

namespace quire::kernel {

struct FileRules;

// A stage whose command has ended. It is moved from place to place, and destroying it removes its
// files.
struct HeldStage {
    stage::Stage stage;
    stage::StageOutcome outcome;
    std::vector<std::string> hidden;  // The files that the command did not see.
    // The digest of the changes that a person is asked about; "" if it has not waited. And the same without
    // what is committed.
    std::string effects = {};
    std::string left = {};
    std::set<std::pair<std::string, stage::ChangeKind>> done = {};  // The committed changes.
    std::string call = {};  // The digest of the call that they are asked about.
    std::int64_t since_ms = 0;
    bool is_below_minimum = false;  // It may change nothing (CommandRunner).
    std::string note = {};          // A sentence about the run, for its warnings; "" for none.
    policy::Actor actor = {};       // The one who ran it.
    std::shared_ptr<const FileRules> rules = nullptr;  // Those that held when a person was asked.
};

// Any thread.
class HeldStages {
public:
    // A stage keeps the disk that its changes take, so it waits for a day at most, and few of them
    // wait.
    static constexpr std::int64_t kLongestMs = std::int64_t{24} * 60 * 60 * 1000;
    static constexpr std::size_t kMost = 32;

    // The clock outlives it.
    explicit HeldStages(Clock& clock) : clock_(clock) {}

    // The stage of the command with this key; an earlier one is given up.
    void hold(const std::string& key, HeldStage stage);
    // Takes the stage of the command; nothing if there is none, or if it has waited too long.
    std::optional<HeldStage> take(const std::string& key);
    // Removes a stage in the background.
    void discard(HeldStage stage);
    // Gives up the stages that this answer says will never be committed. O(stages).
    void heed(const policy::Approval& answered);
    // Replies with whether the stage that this approval is about is as the person was asked about it; also
    // true where none waits, for then the command runs anew. On a thread of its own.
    void check(const policy::Approval& asked, std::function<bool(const HeldStage&)> is_outdated,
               Reply<bool> reply);

private:
    using Stages = std::map<std::string, HeldStage>;
    void give_up(std::vector<HeldStage> stages);

    Clock& clock_;
    sched::Guarded<Stages> stages_;
    // Removes stages that are given up: they may have many files, and an answer comes on the store's
    // thread.
    sched::Pool remover_{1};
};

}  // namespace quire::kernel

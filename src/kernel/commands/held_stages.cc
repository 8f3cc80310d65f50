// Stages that are over are moved out of the map under the lock, and given up outside of it.
// Removing a stage deletes files and may take long, so it is only renamed at once: its disk does
// not count any more.
#include "kernel/commands/held_stages.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/function.h"
#include "policy/approval.h"

namespace quire::kernel {
namespace {

// Takes out the stages for which `is_over` holds.
template <class Predicate>
void move_out(std::map<std::string, HeldStage>& from, std::vector<HeldStage>& to,
              Predicate is_over) {
    for (auto at = from.begin(); at != from.end();) {
        if (!is_over(*at)) {
            ++at;
            continue;
        }
        to.push_back(std::move(at->second));
        at = from.erase(at);
    }
}

}  // namespace

// A later run of the same command takes the place of an earlier one: a person is asked about the
// newest.
void HeldStages::hold(const std::string& key, HeldStage stage) {
    stage.since_ms = clock_.steady_ms();
    std::vector<HeldStage> over;
    stages_.with([&](Stages& all) {
        move_out(all, over, [&](const auto& each) {
            return each.first == key || stage.since_ms - each.second.since_ms > kLongestMs;
        });
        if (all.size() >= kMost) {
            const auto oldest = std::ranges::min_element(
                all, {}, [](const auto& each) { return each.second.since_ms; });
            over.push_back(std::move(oldest->second));
            all.erase(oldest);
        }
        all.emplace(key, std::move(stage));
    });
    give_up(std::move(over));
}

std::optional<HeldStage> HeldStages::take(const std::string& key) {
    const std::int64_t now_ms = clock_.steady_ms();
    std::vector<HeldStage> over;
    std::optional<HeldStage> out;
    stages_.with([&](Stages& all) {
        move_out(all, over,
                 [&](const auto& each) { return now_ms - each.second.since_ms > kLongestMs; });
        const auto found = all.find(key);
        if (found == all.end()) return;
        out.emplace(std::move(found->second));
        all.erase(found);
    });
    give_up(std::move(over));
    return out;
}

// A yes keeps the stage: it is committed by the next call of the command.
void HeldStages::heed(const policy::Approval& answered) {
    const bool is_no = answered.status == policy::ApprovalStatus::denied ||
                       answered.status == policy::ApprovalStatus::outdated;
    if (!is_no) return;
    std::vector<HeldStage> over;
    stages_.with([&](Stages& all) {
        move_out(all, over,
                 [&](const auto& each) { return each.second.call == answered.ask.call; });
    });
    give_up(std::move(over));
}

// The stage is out of the map while it is looked at: the call that is made in between runs anew, and asks
// the same.
void HeldStages::check(const policy::Approval& asked,
                       std::function<bool(const HeldStage&)> is_outdated, Reply<bool> reply) {
    remover_.post([this, call = asked.ask.call, is_outdated = std::move(is_outdated),
                   reply = std::move(reply)]() mutable {
        Stages waiting;
        stages_.with([&](Stages& all) {
            const auto found = std::ranges::find_if(
                all, [&](const auto& each) { return each.second.call == call; });
            if (found != all.end()) waiting.insert(all.extract(found));
        });
        if (waiting.empty()) return reply(true);
        const bool is_same = !is_outdated(waiting.begin()->second);
        // A later one of the same command has taken the place.
        stages_.with([&](Stages& all) { all.merge(waiting); });
        reply(is_same);
    });
}

void HeldStages::discard(HeldStage stage) {
    if (stage.stage.directory().empty()) return;
    std::vector<HeldStage> over;
    over.push_back(std::move(stage));
    give_up(std::move(over));
}

void HeldStages::give_up(std::vector<HeldStage> stages) {
    if (stages.empty()) return;
    for (HeldStage& each : stages) each.stage.set_aside();
    remover_.post([stages = std::move(stages)]() mutable { stages.clear(); });
}

}  // namespace quire::kernel

// Soundness by execution: random scripts are predicted, and run in a stage. Each change was predicted,
// or the prediction said that something is not known.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "kernel/commands/forecast.h"
#include "shell/random_scripts_for_test.h"
#include "stage/changes.h"
#include "stage/stage.h"

namespace quire::kernel {
namespace {

class StageSoundness : public ::testing::Test {
protected:
    StageSoundness() {
        shell::fill_for_scripts(directory_);
        directory_.put("w/.quire/x", "");
        workspace_ = std::filesystem::canonical(directory_ / "w").string();
    }

    CommandForecast forecast(const std::string& script) const {
        return forecast_command(script, workspace_, workspace_, {}, shell::Enforcement::audit,
                                {policy::ActorKind::agent, "ada"});
    }
    // The changes that the script makes in a stage.
    Result<std::vector<stage::StagedChange>> changes(const std::string& script) {
        stage::Stage made = TRY(stage::Stage::make(workspace_, {}));
        stage::StageLimits limits;
        limits.timeout_ms = 2'000;
        limits.disk_bytes = 8U << 20;  // Some write into what they read.
        const stage::StageOutcome out =
            TRY(made.run({script, workspace_, "", false, limits}, clock_, {}));
        std::vector<stage::StagedChange> changed =
            TRY(stage::changes_in(workspace_, made.upper(), {}, out.began_ns));
        if (out.end != stage::StageEnd::exited) std::erase_if(changed, is_draft_of_sed);
        return changed;
    }
    // An endless loop around `sed -i` is killed, and then sed leaves its draft beside the file.
    static bool is_draft_of_sed(const stage::StagedChange& change) {
        constexpr std::size_t kRandom = 6;
        const std::string name = change.path.substr(change.path.rfind('/') + 1);
        return change.kind == stage::ChangeKind::created && name.starts_with("sed") &&
               name.size() == 3 + kRandom;
    }

    TestDirectory directory_;
    std::string workspace_;
    SystemClock clock_;
};

// The first change that was not predicted; "" for none.
std::string unpredicted(const CommandForecast& forecast,
                        const std::vector<stage::StagedChange>& made) {
    std::vector<ChangedPath> changed;
    for (const stage::StagedChange& each : made)
        changed.push_back({each.path, each.kind == stage::ChangeKind::deleted});
    const std::vector<std::size_t> missed = unpredicted_changes(forecast.prediction, changed);
    if (missed.empty()) return "";
    const stage::StagedChange& first = made[missed.front()];
    return cat(name_of(first.kind), " ", first.path);
}

TEST_F(StageSoundness, EveryChangeInAStageWasPredictedOrAWarningWasGiven) {
    if (const auto first = changes("true"); !first && first.error().reason() == "no_stage")
        GTEST_SKIP() << "this machine has no stage: " << first.error().message();
    shell::SoundnessRun run(2'000, 500'000);
    while (const std::optional<std::string> script = run.next()) {
        const CommandForecast forecast = this->forecast(*script);
        if (run.was_warned(forecast.prediction)) continue;
        const auto made = changes(*script);
        ASSERT_TRUE(made) << made.error().message();
        run.ran(forecast.prediction, !made->empty(), unpredicted(forecast, *made));
    }
    run.end();
}

}  // namespace
}  // namespace quire::kernel

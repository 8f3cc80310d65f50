// Soundness by execution: random scripts are predicted, and run in a stage. Each change was predicted,
// or the prediction said that something is not known.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
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
        return stage::changes_in(workspace_, made.upper(), {}, out.began_ns);
    }

    TestDirectory directory_;
    std::string workspace_;
    SystemClock clock_;
};

// Something that became another kind of thing is deleted and created, and was written to.
bool was_predicted(const CommandForecast& forecast, const stage::StagedChange& change,
                   const std::vector<stage::StagedChange>& all) {
    const bool erases =
        change.kind == stage::ChangeKind::deleted &&
        std::ranges::none_of(all, [&](const stage::StagedChange& each) {
            return each.path == change.path && each.kind != stage::ChangeKind::deleted;
        });
    return is_predicted(forecast.prediction, change.path,
                        erases ? policy::Operation::erase : policy::Operation::overwrite);
}

TEST_F(StageSoundness, EveryChangeInAStageWasPredictedOrAWarningWasGiven) {
    if (const auto first = changes("true"); !first && first.error().reason() == "no_stage")
        GTEST_SKIP() << "this machine has no stage: " << first.error().message();
    const bool is_long = std::getenv("QUIRE_LONG") != nullptr;
    const std::uint64_t count = is_long ? 100'000 : 2'000 / kRoundsShare;
    const std::uint64_t first = is_long ? 2'000'000 : 500'000;
    std::size_t plain = 0;
    std::size_t changed = 0;
    std::size_t unsound = 0;
    std::map<std::string, std::size_t> warned;
    for (std::uint64_t seed = first; seed < first + count && unsound < 10; ++seed) {
        const std::string script =
            cat("f() { echo \"$1\" >> n; }\nv=b.txt\nw=\n", shell::RandomScripts(seed).script());
        const CommandForecast forecast = this->forecast(script);
        if (!forecast.prediction.warnings.empty()) {
            ++warned[forecast.prediction.warnings.front().kind];
            continue;
        }
        ++plain;
        const auto made = changes(script);
        ASSERT_TRUE(made) << made.error().message();
        changed += made->empty() ? 0 : 1;
        for (const stage::StagedChange& change : *made) {
            if (was_predicted(forecast, change, *made)) continue;
            ++unsound;
            std::string told;
            for (const shell::Predicted& each : forecast.prediction.effects)
                cat_to(told, cat("  ", name_of(each.effect), " ", each.path, "\n"));
            ADD_FAILURE() << "seed " << seed << ": " << name_of(change.kind) << " " << change.path
                          << "\n"
                          << script << "predicted:\n"
                          << told;
            break;
        }
    }
    std::printf("%llu scripts: %zu ran without a warning, %zu of them changed files, %zu unsound\n",
                static_cast<unsigned long long>(count), plain, changed, unsound);
    for (const auto& [kind, times] : warned)
        std::printf("  %zu were warned of: %s\n", times, kind.c_str());
    // A warning on everything would be sound, and of no use.
    EXPECT_GT(plain * 2, count);
    EXPECT_GT(changed * 4, count);
}

}  // namespace
}  // namespace quire::kernel

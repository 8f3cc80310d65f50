// Commands on a system that cannot stage them.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "kernel/commands/commands_test.h"
#include "stage/tiers.h"

namespace quire::kernel {
namespace {

using shell::Enforcement;

class LowerTiers : public Commands {
protected:
    void SetUp() override {
        settings.best_tier = Tier::landlock;
        commands->set(settings);
        for (const stage::TierFinding& each :
             stage::find_tiers(directory.path(), directory.path(), clock)) {
            if (each.tier == Tier::landlock && !each.works())
                GTEST_SKIP() << "this machine has no tier landlock: " << each.why_not;
        }
    }
    void allow(Tier lowest) {
        settings.minimum_tier = lowest;
        commands->set(settings);
    }
};

TEST_F(LowerTiers, StrictRefusesBelowTheMinimumAndSaysWhatIsThere) {
    const auto made = run("echo x > src/new");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), Errc::unavailable);
    EXPECT_EQ(made.error().reason(), "no_stage");
    EXPECT_EQ(made.error().details().find("tier")->as_string(), "landlock");
    EXPECT_EQ(made.error().details().find("needed")->as_string(), "staged");
    EXPECT_FALSE(directory.has("src/new"));
    EXPECT_TRUE(std::filesystem::is_empty(directory / ".quire/stages"));
}

TEST_F(LowerTiers, ACommandThatChangesNothingRunsInAnyTier) {
    const auto made = run("cat src/a.c");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.output, "int a;\n");
    EXPECT_EQ(made->tier, Tier::landlock);
}

// Nothing there would hold back a signal, or a path that leads out of the copy.
TEST_F(LowerTiers, BelowTheMinimumNothingRunsUnconfined) {
    settings.best_tier = Tier::observed;
    commands->set(settings);
    for (const char* const command : {"cat src/a.c", "kill -0 1", "cat ../../../../secret/key"}) {
        const auto made = run(command);
        ASSERT_FALSE(made) << command;
        EXPECT_EQ(made.error().reason(), "no_stage") << command;
        EXPECT_EQ(made.error().details().find("tier")->as_string(), "observed") << command;
    }
}

TEST_F(LowerTiers, WhatTheSettingsAllowRunsAndPassesTheGate) {
    allow(Tier::landlock);
    const auto made =
        run("sed -i s/a/x/ src/a.c; rm src/b.c; echo new > src/c.c; "
            "python3 -c 'print(open(\"secret/key\").read())' 2>/dev/null; true");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->tier, Tier::landlock);
    EXPECT_EQ(kept(*made), "modified src/a.c; deleted src/b.c; created src/c.c; ");
    EXPECT_EQ(made->outcome.output, "") << "a file that needs an approval was read";
    EXPECT_EQ(directory.get("src/a.c"), "int x;\n");
    EXPECT_EQ(newest_actor("src/a.c"), "agent:ada");
    const auto refused = run("python3 -c 'open(\"README.md\",\"w\").write(\"x\")'");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason(), "permission_denied");
    EXPECT_EQ(directory.get("README.md"), "read me\n");
}

TEST_F(LowerTiers, UnderWarnedTheBestTierIsUsed) {
    settings.best_tier = Tier::observed;
    at(Enforcement::warned);
    const auto made = run("echo x > README.md; echo y > src/new");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->tier, Tier::observed);
    EXPECT_EQ(kept(*made), "created src/new; [modified README.md; ]");
    EXPECT_EQ(directory.get("README.md"), "read me\n");
}

// Its effects could not be held back, so a person decides before.
TEST_F(LowerTiers, APersonIsAskedBeforeACommandRunsThatNeedsAnApproval) {
    allow(Tier::landlock);
    const std::string command = "echo more >> ask/plan.md";
    const auto asked = run(command);
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().reason(), "escalation_required");
    EXPECT_EQ(asked.error().details().find("stdout"), nullptr) << "it has not run";
    EXPECT_EQ(asked.error().details().find("escalations")->as_list().size(), 1U);
}

}  // namespace
}  // namespace quire::kernel

#include "shell/judge.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "shell/disk_tree.h"
#include "shell/parser.h"
#include "shell/predict.h"

namespace quire::shell {
namespace {

class Judged : public testing::Test {
protected:
    Judged() {
        for (const char* name : {"src/a.rs", "src/gen/b.rs", "docs/a.md", "logs/app.log", "ask/a"})
            directory.put(name, "x\n");
        situation.root = situation.cwd = std::filesystem::canonical(directory.path()).string();
        situation.knows_all = true;
        add("src/gen/**", policy::Permission::read_write);
        add("logs/**", policy::Permission::append);
        add("ask/**", policy::Permission::human);
        add("docs/**", policy::Permission::read_write);
    }
    void add(const char* pattern, policy::Permission permission) {
        rules.push_back({std::move(*text::Glob::compile(pattern)), permission, {}});
    }
    // "block: write src/a.rs"
    std::string decided(std::string_view script) {
        const DiskTree tree;
        const Prediction prediction = predict(*parse(script), situation, tree);
        const Judgement judgement =
            judge(prediction, situation, tree, policy::PathRules(rules), policy::Actor());
        std::string out(name_of(judgement.decision));
        for (const auto* list : {&judgement.violations, &judgement.escalations}) {
            for (const Objection& each : *list)
                cat_to(out, cat(": ", name_of(each.effect), " ", each.path));
        }
        return out;
    }

    TestDirectory directory;
    Situation situation;
    std::vector<policy::PathRule> rules;
};

TEST_F(Judged, EachEffectIsDecidedByItsPath) {
    EXPECT_EQ(decided("cat src/a.rs | grep x"), "allow");
    EXPECT_EQ(decided("echo x > docs/new.md && rm docs/a.md"), "allow");
    EXPECT_EQ(decided("echo x > src/a.rs"), "block: write src/a.rs");
    EXPECT_EQ(decided("echo x >> logs/app.log"), "allow");
    EXPECT_EQ(decided("echo x > logs/app.log"), "block: write logs/app.log");
    EXPECT_EQ(decided("echo x > ask/a"), "require_escalation: write ask/a");
    EXPECT_EQ(decided("mkdir docs/d && touch docs/d/x"), "allow");
    EXPECT_EQ(decided("touch quire.toml"), "block: create quire.toml");
}

TEST_F(Judged, AnEffectBelowADirectoryIsDecidedForEachFileThere) {
    EXPECT_EQ(decided("rm -rf src/gen"), "allow");
    EXPECT_EQ(decided("rm -rf src"), "block: delete src/a.rs");
    EXPECT_EQ(decided("rm -rf docs ask"), "require_escalation: delete ask/a");
}

TEST_F(Judged, WhatIsOutsideOrNotKnownCountsToo) {
    EXPECT_EQ(decided("echo x > /etc/passwd"), "block: write /etc/passwd");
    EXPECT_EQ(decided("cat /etc/passwd > /tmp/x"), "allow");
    EXPECT_EQ(decided("cat /etc/passwd > /tmpx"), "block: create /tmpx");
    EXPECT_EQ(decided("echo x > /dev/stderr; echo y | tee /dev/stdout /proc/self/fd/2"), "allow");
    situation.own_places = {"/tmp", "/home/u"};
    EXPECT_EQ(decided("echo x > /home/u/f"), "allow");
    EXPECT_EQ(decided("echo x > /home/uu"), "block: create /home/uu");
    EXPECT_EQ(decided("make"), "allow_with_warning");
    EXPECT_EQ(decided("rm \"$(cat list)\""), "require_escalation");
    EXPECT_EQ(decided("git status"), "allow");
    EXPECT_EQ(decided("git commit -m x"), "allow_with_warning");
    EXPECT_EQ(decided("git fetch"), "require_escalation");
    EXPECT_EQ(decided("sudo true"), "block");
}

}  // namespace
}  // namespace quire::shell

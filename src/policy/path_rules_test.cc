#include "policy/path_rules.h"

#include <gtest/gtest.h>

namespace quire::policy {
namespace {

const Actor kAgent{ActorKind::agent, "ada"};
const Actor kHuman{ActorKind::human, "kay"};

PathRule rule(std::string_view pattern, Permission permission, Operations escalated = {}) {
    return {text::Glob::compile(pattern).value(), permission, escalated, 0};
}

TEST(PathRules, WithoutAMatchAPathIsReadOnly) {
    const PathRules rules({rule("src/**", Permission::read_write)});

    EXPECT_EQ(rules.decide("docs/a.md", Operation::read, kAgent).verdict, Verdict::allow);
    for (const Operation each :
         {Operation::create, Operation::append, Operation::overwrite, Operation::erase}) {
        const Decision decision = rules.decide("docs/a.md", each, kAgent);
        EXPECT_EQ(decision.verdict, Verdict::deny);
        EXPECT_EQ(decision.permission, Permission::read_only);
        EXPECT_EQ(decision.because.kind, Because::Kind::no_rule);
    }
}

TEST(PathRules, TheFirstMatchWins) {
    const PathRules rules({rule("src/secret.rs", Permission::read_only),
                           rule("src/**/*.rs", Permission::read_write),
                           rule("**", Permission::admin)});

    EXPECT_EQ(rules.decide("src/secret.rs", Operation::overwrite, kAgent).verdict, Verdict::deny);
    const Decision main = rules.decide("src/main.rs", Operation::overwrite, kAgent);
    EXPECT_EQ(main.verdict, Verdict::allow);
    EXPECT_EQ(main.because, (Because{Because::Kind::rule, 1}));
    EXPECT_EQ(rules.decide("x", Operation::overwrite, kAgent).because.rule, 2U);
}

TEST(PathRules, DeleteNeedsAdminOrAReadWriteRuleThatDoesNotEscalateIt) {
    const PathRules rules(
        {rule("a", Permission::admin), rule("w", Permission::read_write),
         rule("we", Permission::read_write, {Operation::erase}), rule("h", Permission::human),
         rule("p", Permission::partner), rule("ap", Permission::append),
         rule("ae", Permission::append, {Operation::erase}), rule("r", Permission::read_only)});
    const auto erase = [&](std::string_view path) {
        return rules.decide(path, Operation::erase, kAgent).verdict;
    };

    EXPECT_EQ(erase("a"), Verdict::allow);
    EXPECT_EQ(erase("w"), Verdict::allow);
    EXPECT_EQ(erase("we"), Verdict::escalate);
    EXPECT_EQ(erase("h"), Verdict::escalate);
    EXPECT_EQ(erase("p"), Verdict::escalate);
    EXPECT_EQ(erase("ap"), Verdict::deny);
    EXPECT_EQ(erase("ae"), Verdict::deny);  // Listing an operation only ever narrows.
    EXPECT_EQ(erase("r"), Verdict::deny);
}

TEST(PathRules, AListedOperationEscalatesAndOthersDoNot) {
    const PathRules rules({rule("**", Permission::read_write, {Operation::overwrite})});

    EXPECT_EQ(rules.decide("a", Operation::overwrite, kAgent).verdict, Verdict::escalate);
    EXPECT_EQ(rules.decide("a", Operation::append, kAgent).verdict, Verdict::allow);
}

TEST(PathRules, AHumansOwnCallIsTheApproval) {
    const PathRules rules({rule("h", Permission::human), rule("r", Permission::read_only)});

    EXPECT_EQ(rules.decide("h", Operation::overwrite, kAgent).verdict, Verdict::escalate);
    EXPECT_EQ(rules.decide("h", Operation::overwrite, kHuman).verdict, Verdict::allow);
    EXPECT_EQ(rules.decide("r", Operation::overwrite, kHuman).verdict, Verdict::deny);
}

TEST(PathRules, ProtectionsStandBeforeEveryRuleAtAnyDepthAndInAnyCase) {
    const PathRules rules({rule("**", Permission::admin)});

    for (const char* path :
         {".git/config", ".git", "sub/.git/hooks/pre-commit", ".GIT/HEAD", "a/b/.Git/x",
          "quire.toml", "sub/QUIRE.toml", ".quire/quire.db", "x/.Quire/y", ".githooks/pre-push",
          ".husky/pre-commit", "bare.git/hooks/update"}) {
        EXPECT_EQ(rules.decide(path, Operation::create, kHuman).verdict, Verdict::deny) << path;
        EXPECT_EQ(rules.decide(path, Operation::erase, kAgent).because.kind,
                  Because::Kind::built_in)
            << path;
    }
    for (const char* path : {".gitignore", ".github/workflows/x.yml", "src/hooks/use_state.ts",
                             "quire.toml/x", "git/x", "quire.toml.bak"}) {
        EXPECT_EQ(rules.decide(path, Operation::erase, kAgent).verdict, Verdict::allow) << path;
    }
}

TEST(PathRules, TheKernelsOwnStateCannotEvenBeRead) {
    const PathRules rules({rule("**", Permission::admin)});

    EXPECT_EQ(rules.decide(".quire/quire.db", Operation::read, kAgent).verdict, Verdict::deny);
    EXPECT_EQ(rules.decide("quire.toml", Operation::read, kAgent).verdict, Verdict::allow);
}

TEST(PathRules, ALinkGetsTheStricterOfItsOwnAndItsTargetsDecision) {
    const PathRules rules(
        {rule("open/**", Permission::read_write), rule("ask/**", Permission::human)});
    const auto at = [&](std::string_view path) {
        return rules.decide(path, Operation::overwrite, kAgent);
    };

    EXPECT_EQ(stricter(at("open/link"), at("closed")).verdict, Verdict::deny);
    EXPECT_EQ(stricter(at("closed"), at("open/file")).verdict, Verdict::deny);
    EXPECT_EQ(stricter(at("open/link"), at("ask/file")).verdict, Verdict::escalate);
    EXPECT_EQ(stricter(at("open/link"), at("open/file")).verdict, Verdict::allow);
}

TEST(PathRules, AProtectedNameIsOneInWhateverFormAFileSystemReadsIt) {
    const PathRules rules({rule("**", Permission::admin)});
    for (const std::string_view path :
         {".git/config", ".GIT/hooks/new", "deep/er/.Git/x", "sub/.quire/db", ".QUIRE", "Quire.TOML",
          "a/quire.toml", "quire.toml.", "quire.toml ", ".git./hooks/x", ".git .../x",
          ".g\xE2\x80\x8Cit/config", "\xEF\xBB\xBF.git/config", ".hu\xC5\xBFky/pre-commit",
          ".hus\xE2\x84\xAAy/pre-commit", ".githooks/new", "bare.GIT/Hooks/post-update"}) {
        EXPECT_TRUE(is_protected(path)) << path;
        for (const Operation each : {Operation::create, Operation::append, Operation::overwrite,
                                     Operation::erase})
            EXPECT_EQ(rules.decide(path, each, kAgent).verdict, Verdict::deny) << path;
    }
    for (const std::string_view path :
         {".gitignore", "git/config", "quire.toml.md", "x.git", ".github/x", "hooks/x",
          "\xFF.git/x", "...", "src/quire.tomls"}) {
        EXPECT_FALSE(is_protected(path)) << path;
    }
}

TEST(PathRules, WhatGitCommitsIsOpenToCommandsAsTheRulesSay) {
    const PathRules rules({rule("**", Permission::read_write)});
    for (const std::string_view path :
         {".git/HEAD", ".git/index", ".git/objects/ab/cdef", ".git/objects/pack/pack-1.idx",
          ".git/objects", ".git/objects/ab", ".git/objects/info/commit-graphs/chain",
          ".git/refs/heads/config", ".git/logs/HEAD", ".git/packed-refs", ".git/COMMIT_EDITMSG"}) {
        EXPECT_TRUE(is_git_state(path)) << path;
        EXPECT_EQ(rules.decide(path, Operation::overwrite, kAgent).verdict, Verdict::deny) << path;
        EXPECT_EQ(rules.decide_git_state(path, Operation::overwrite, kAgent).verdict,
                  Verdict::allow)
            << path;
        EXPECT_EQ(PathRules(std::vector<PathRule>())
                      .decide_git_state(path, Operation::overwrite, kAgent)
                      .verdict,
                  Verdict::deny)
            << path;
    }
    for (const std::string_view path : {".git",
                                        ".git/config",
                                        ".git/config.worktree",
                                        ".git/hooks/pre-commit",
                                        ".git/info/exclude",
                                        ".git/objects/info/alternates",
                                        ".git/objects/info/http-alternates",
                                        ".git/commondir",
                                        ".git/rebase-merge/git-rebase-todo",
                                        ".git/sequencer/todo",
                                        ".git/modules/a/config",
                                        ".git/worktrees/a/gitdir",
                                        ".git/objects/INFO/alternates",
                                        ".git/objects/in\xE2\x80\x8B"
                                        "fo/alternates",
                                        ".git/objects/other/x",
                                        ".git/Refs/heads/x",
                                        ".GIT/HEAD",
                                        ".git/head",
                                        "sub/.git/HEAD",
                                        ".quire/db"}) {
        EXPECT_FALSE(is_git_state(path)) << path;
        EXPECT_EQ(rules.decide_git_state(path, Operation::overwrite, kAgent).verdict, Verdict::deny)
            << path;
    }
}

TEST(PathRules, ARefusalEscapesThePathWhereverItStands) {
    const PathRules rules((std::vector<PathRule>()));
    const std::string path = "a\x1b[2J";

    const Result<void> permitted = permit(rules.decide(path, Operation::overwrite, kAgent),
                                          Operation::overwrite, kAgent, path, {});

    ASSERT_FALSE(permitted);
    EXPECT_EQ(permitted.error().message().find('\x1b'), std::string::npos)
        << permitted.error().message();
}

TEST(PathRules, TheReasonNamesTheRuleAndItsLine) {
    PathRule docs = rule("docs/**", Permission::append, {Operation::create});
    docs.line = 14;
    const PathRules rules({docs});

    EXPECT_EQ(rules.decide("docs/a.md", Operation::overwrite, kAgent).why,
              "rule 1 ('docs/**', line 14 of quire.toml) makes docs/a.md append");
    EXPECT_EQ(rules.decide("a\x1b[2J", Operation::read, kAgent).why,
              "no rule in quire.toml matches a\\u{1b}[2J, so it is read_only");
    EXPECT_EQ(
        rules.explain("docs/a.md", kAgent),
        "rule 1 ('docs/**', line 14 of quire.toml) makes docs/a.md append\n"
        "  read: allow\n  create: escalate\n  append: allow\n  overwrite: deny\n  delete: deny\n");
}

}  // namespace
}  // namespace quire::policy

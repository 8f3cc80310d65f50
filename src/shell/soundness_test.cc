// Soundness by execution: random scripts are predicted, and run by bash in a directory of their own.
// Each change of that directory was predicted, or the prediction said that something is not known.
// Changes beside it count too. More scripts run in stages (kernel/commands/stage_soundness_test.cc).
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "shell/disk_tree.h"
#include "shell/parser.h"
#include "shell/predict.h"
#include "shell/random_scripts_for_test.h"
#include "shell/tricky_scripts_for_test.h"

namespace quire::shell {
namespace {

namespace files = std::filesystem;

// Everything below a directory, by path: its type, mode and content.
std::map<std::string, std::string> snapshot(const files::path& root) {
    std::map<std::string, std::string> out;
    for (auto at = files::recursive_directory_iterator(root); at != files::end(at); ++at) {
        struct stat status {};
        lstat(at->path().c_str(), &status);
        std::string what = cat(status.st_mode);
        if (S_ISLNK(status.st_mode)) what += files::read_symlink(at->path()).string();
        if (S_ISREG(status.st_mode)) {
            std::ifstream in(at->path(), std::ios::binary);
            what.append(std::istreambuf_iterator<char>(in), {});
            what += cat(" ", status.st_mtim.tv_sec < 1'000'000'000 ? "old" : "");
        }
        out[at->path().string()] = what;
    }
    return out;
}

bool covers(const Prediction& prediction, const std::string& root, const std::string& path,
            std::initializer_list<Effect> effects) {
    for (const Predicted& each : prediction.effects) {
        if (std::find(effects.begin(), effects.end(), each.effect) == effects.end()) continue;
        std::string at = each.path.starts_with('/') ? each.path : cat(root, "/", each.path);
        if (each.path == "./") at = root + "/";
        if (at == path || (at.ends_with('/') && (path.starts_with(at) || path + "/" == at)))
            return true;
    }
    return false;
}

// The first change that was not predicted; "" for none.
std::string unpredicted(const Prediction& prediction, const std::string& root,
                        const std::map<std::string, std::string>& before,
                        const std::map<std::string, std::string>& after) {
    for (const auto& [path, what] : after) {
        const auto was = before.find(path);
        const bool is_new = was == before.end();
        if (!is_new && was->second == what) continue;
        if (!covers(prediction, root, path, {Effect::create, Effect::write, Effect::append}))
            return cat(is_new ? "created " : "changed ", path);
    }
    for (const auto& [path, what] : before) {
        if (!after.contains(path) && !covers(prediction, root, path, {Effect::erase}))
            return cat("deleted ", path);
    }
    return "";
}

// Predicts a script and lets bash run it in the directory "w".
struct Outcome {
    Prediction prediction;
    bool changed = false;
    std::string missed;  // The first change that was not predicted.
};

Outcome predicted_and_run(std::string_view script, const TestDirectory& directory,
                          const std::function<bool(const Prediction&)>& was_warned) {
    const Result<Script> parsed = parse(script);
    EXPECT_TRUE(parsed) << parsed.error().message() << "\n" << script;
    if (!parsed) return {};
    const std::string top = files::canonical(directory.path()).string();
    Situation situation;
    situation.root = situation.cwd = top + "/w";
    situation.environment = {{"HOME", top + "/home"}};
    situation.knows_all = true;
    Outcome out;
    out.prediction = predict(*parsed, situation, DiskTree());
    if (was_warned(out.prediction)) return out;
    const auto before = snapshot(top);
    directory.put("script", std::string(script));
    const std::string command =
        cat("cd ", top, "/w && ulimit -t 2 && exec env -i PATH=/usr/bin:/bin HOME=", top,
            "/home LC_ALL=C.UTF-8 timeout 10 bash --norc ../script < /dev/null > /dev/null 2>&1");
    [[maybe_unused]] const int ended = std::system(command.c_str());
    files::remove(files::path(top) / "script");
    const auto after = snapshot(top);
    out.changed = before != after;
    out.missed = unpredicted(out.prediction, situation.root, before, after);
    return out;
}

// Found by random scripts. Links that may lead to each other made each of some hundred operands take
// seconds, once the limit on the ways of one operand had been passed.
TEST(Soundness, LinksThatMayLeadToEachOtherAreFollowedInBoundedTime) {
    const TestDirectory directory;
    fill_for_scripts(directory);
    const auto began = std::chrono::steady_clock::now();
    const Outcome out = predicted_and_run(
        "select v in a; do if install */x; then ln dl d/*; cd d/g.c; fi; done || "
        "( if if l; then ./b.txt; fi; then d/g.c; fi )",
        directory, [](const Prediction& prediction) { return !prediction.warnings.empty(); });
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
    ASSERT_FALSE(out.prediction.warnings.empty());
    EXPECT_EQ(out.prediction.warnings.begin()->kind, "too_complex");
}

TEST(Soundness, EveryChangeWasPredictedOrAWarningWasGiven) {
    if (std::system("command -v bash >/dev/null") != 0) GTEST_SKIP() << "bash is not installed";
    SoundnessRun run(300, 0);
    while (const std::optional<std::string> script = run.next()) {
        const TestDirectory directory;
        fill_for_scripts(directory);
        bool warned = false;
        const Outcome outcome = predicted_and_run(
            *script, directory,
            [&](const Prediction& prediction) { return warned = run.was_warned(prediction); });
        if (!warned) run.ran(outcome.prediction, outcome.changed, outcome.missed);
    }
    run.end();
}

TEST(Soundness, TrickyScriptsDoWhatWasPredicted) {
    if (std::system("command -v bash >/dev/null") != 0) GTEST_SKIP() << "bash is not installed";
    std::size_t ran = 0;
    for (const std::string_view script : kTrickyScripts) {
        const TestDirectory directory;
        fill_for_tricky_scripts(directory);
        const Outcome outcome =
            predicted_and_run(script, directory, [&](const Prediction& prediction) {
                ran += prediction.warnings.empty() ? 1 : 0;
                return !prediction.warnings.empty();
            });
        EXPECT_EQ(outcome.missed, "") << script;
    }
    EXPECT_GT(ran * 2, std::size(kTrickyScripts));
}

}  // namespace
}  // namespace quire::shell

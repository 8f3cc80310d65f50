// Joins the parts of room shell: parse, predict, judge. They are pure; the disk is read here
// through DiskTree, so a forecast is true for the moment only, and the gate decides again after the
// run.
#include "kernel/commands/forecast.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "shell/disk_tree.h"
#include "shell/parser.h"
#include "shell/predict.h"

namespace quire::kernel {
namespace {

// The prediction compares paths by their text, so links in the workspace's own path must be
// resolved.
std::string canonical(const std::string& path) {
    std::error_code failed;
    const auto real = std::filesystem::canonical(path, failed);
    return failed ? path : real.string();
}

// A run of '?' stands for a name made at random.
bool fits(std::string_view predicted, std::string_view path) {
    if (predicted == path) return true;
    // "./" is all of the workspace.
    if (predicted == "./" || (predicted.ends_with('/') && path.starts_with(predicted))) return true;
    if (predicted.ends_with('/') && predicted.substr(0, predicted.size() - 1) == path) return true;
    return predicted.size() == path.size() && predicted.find('?') != std::string_view::npos &&
           std::equal(predicted.begin(), predicted.end(), path.begin(),
                      [](char a, char b) { return a == b || a == '?'; });
}

// Only a deletion predicts a deletion. Each of the other effects but a read predicts any other
// change: a write also makes a file that is not there.
bool is_predicted(const shell::Prediction& prediction, std::string_view path, bool erases) {
    return std::ranges::any_of(prediction.effects, [&](const shell::Predicted& each) {
        return each.effect != shell::Effect::read &&
               (each.effect == shell::Effect::erase) == erases && fits(each.path, path);
    });
}

}  // namespace

CommandForecast forecast_command(const std::string& script, const std::string& workspace,
                                 const std::string& cwd, const policy::PathRules& rules,
                                 shell::Enforcement level, const policy::Actor& by,
                                 Surroundings around) {
    shell::Situation situation;
    situation.root = canonical(workspace);
    situation.cwd = canonical(cwd);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): never set here.
    if (const char* const home = std::getenv("HOME")) situation.environment["HOME"] = home;
    if (around == Surroundings::stage) {
        situation.environment["TMPDIR"] = "/tmp";
        // The home of a stage is its own too, but what is written there is as good as lost, and an agent that
        // writes there mostly means to change how programs of its user behave.
        situation.own_places = {"/tmp", "/var/tmp", "/dev/shm"};
    }
    if (around == Surroundings::copy) situation.own_places.clear();
    const shell::DiskTree tree;
    CommandForecast out;
    const Result<shell::Script> parsed = shell::parse(script);
    if (parsed) {
        out.prediction = shell::predict(*parsed, situation, tree);
        out.judgement = shell::judge(out.prediction, situation, tree, rules, by);
    } else {
        out.judgement.decision = shell::Decision::block;
        out.prediction.warnings.push_back(
            {parsed.error().reason(), script.substr(0, 80), parsed.error().message()});
    }
    out.decision = shell::under(level, out.judgement.decision);
    return out;
}

std::vector<std::size_t> unpredicted_changes(const shell::Prediction& prediction,
                                             const std::vector<ChangedPath>& changes) {
    std::set<std::string_view> made;
    for (const ChangedPath& each : changes) {
        if (!each.is_deleted) made.insert(each.path);
    }
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const bool erases = changes[i].is_deleted && !made.contains(changes[i].path);
        if (!is_predicted(prediction, changes[i].path, erases)) out.push_back(i);
    }
    return out;
}

}  // namespace quire::kernel

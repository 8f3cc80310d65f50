#include "cli/commands/command_report.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/concat.h"
#include "cli/commands/terminal.h"
#include "policy/path_rules.h"
#include "shell/disk_tree.h"
#include "shell/judge.h"
#include "shell/parser.h"
#include "shell/predict.h"
#include "text/escape_hidden.h"

namespace quire::cli {

namespace {

using shell::Decision;
using shell::Effect;

// The words of the tool: an append is a write there.
std::string operation_word(Effect effect) {
    return std::string(name_of(effect == Effect::append ? Effect::write : effect));
}

bool is_unpredictable(const shell::Warning& warning) {
    return warning.kind != "network" && warning.kind != "privilege";
}

// A level that only tells refuses nothing.
Decision under(Enforcement level, Decision decision) {
    if (level == Enforcement::strict) return decision;
    if (level != Enforcement::warned) return Decision::allow;
    return decision == Decision::allow ? decision : Decision::allow_with_warning;
}

Map objection_value(const shell::Objection& each) {
    return {{"path", each.path},
            {"operation", operation_word(each.effect)},
            {"permission", each.permission},
            {"reason", each.reason}};
}

Colour colour_of(Decision decision) {
    if (decision == Decision::block) return Colour::red;
    return decision == Decision::allow ? Colour::green : Colour::yellow;
}

std::string objection_lines(std::string_view heading, const std::vector<shell::Objection>& all) {
    std::string out;
    for (const shell::Objection& each : all)
        cat_to(out,
               cat("  ", heading, ": ", operation_word(each.effect), " ",
                   text::escape_hidden(each.path), ": ", text::escape_hidden(each.reason), "\n"));
    return out;
}

std::string canonical(const std::string& path) {
    std::error_code failed;
    const auto real = std::filesystem::canonical(path, failed);
    return failed ? path : real.string();
}

}  // namespace

CommandReport report_command(const Settings& settings, const std::string& workspace,
                             const std::string& cwd, const policy::Actor& by,
                             const std::string& script) {
    shell::Situation situation;
    situation.root = canonical(workspace);
    situation.cwd = canonical(cwd);
    if (const char* const home = std::getenv("HOME")) situation.environment["HOME"] = home;
    const shell::DiskTree tree;

    shell::Prediction prediction;
    Decision decision = Decision::block;
    shell::Judgement judgement;
    const Result<shell::Script> parsed = shell::parse(script);
    if (parsed) {
        prediction = shell::predict(*parsed, situation, tree);
        judgement =
            shell::judge(prediction, situation, tree, policy::PathRules(settings.files.rules), by);
        decision = judgement.decision;
    } else {
        prediction.warnings.push_back(
            {parsed.error().reason(), script.substr(0, 80), parsed.error().message()});
    }
    decision = under(settings.shell.enforcement, decision);

    List predicted, warnings, unpredictable, violations, escalations;
    std::string lines;
    std::string last;
    for (const shell::Predicted& each : prediction.effects) {
        const std::string word = operation_word(each.effect);
        predicted.push_back(Map{{"path", each.path}, {"operation", word}});
        if (each.effect == Effect::read) continue;
        cat_to(lines, cat("  ", padded(word, 8), text::escape_hidden(each.path), "\n"));
    }
    for (const shell::Warning& each : prediction.warnings) {
        (is_unpredictable(each) ? unpredictable : warnings)
            .push_back(Map{{"kind", each.kind}, {"word", each.word}, {"why", each.why}});
        cat_to(lines, cat("  ", each.kind, ": ", text::escape_hidden(each.word), ": ",
                          text::escape_hidden(each.why), "\n"));
    }
    for (const shell::Objection& each : judgement.violations)
        violations.push_back(objection_value(each));
    for (const shell::Objection& each : judgement.escalations)
        escalations.push_back(objection_value(each));
    if (lines.empty()) lines = "  it changes no file\n";

    std::string words(name_of(decision));
    std::replace(words.begin(), words.end(), '_', ' ');
    CommandReport out;
    out.text = cat(coloured(words, colour_of(decision)), "\n", lines,
                   objection_lines("forbidden", judgement.violations),
                   objection_lines("needs approval", judgement.escalations));
    out.structured =
        Map{{"decision", name_of(decision)},       {"predicted", std::move(predicted)},
            {"violations", std::move(violations)}, {"escalations", std::move(escalations)},
            {"warnings", std::move(warnings)},     {"unpredictable", std::move(unpredictable)}};
    return out;
}

}  // namespace quire::cli

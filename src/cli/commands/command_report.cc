// Runs the forecast that the tool shell makes before a command, with the rules of quire.toml as it
// is now, and puts it into words. Words and paths come from the script, so they are escaped.
#include "cli/commands/command_report.h"

#include <algorithm>

#include "base/concat.h"
#include "cli/commands/terminal.h"
#include "kernel/commands/command_values.h"
#include "kernel/commands/forecast.h"
#include "policy/path_rules.h"
#include "text/escape_hidden.h"

namespace quire::cli {

namespace {

using shell::Decision;

Colour colour_of(Decision decision) {
    if (decision == Decision::block) return Colour::red;
    return decision == Decision::allow ? Colour::green : Colour::yellow;
}

// The operation, the path, and the reason of each objection.
std::string objection_lines(std::string_view heading, const Value& all) {
    std::string out;
    for (const Value& each : all.as_list())
        cat_to(out, cat("  ", heading, ": ", each.get("operation")->as_string(), " ",
                        text::escape_hidden(each.get("path")->as_string()), ": ",
                        text::escape_hidden(each.get("reason")->as_string()), "\n"));
    return out;
}

}  // namespace

CommandReport report_command(const Settings& settings, const std::string& workspace,
                             const std::string& cwd, const policy::Actor& by,
                             const std::string& script) {
    const kernel::CommandForecast forecast =
        kernel::forecast_command(script, workspace, cwd, policy::PathRules(settings.files.rules),
                                 settings.shell.enforcement, by);
    Map value = kernel::forecast_value(forecast);
    std::string lines;
    // Reads are left out: most commands read much, and a rule that forbids one is listed below.
    for (const Value& each : value.find("predicted")->as_list()) {
        const std::string& word = each.get("operation")->as_string();
        if (word == "read") continue;
        cat_to(lines, cat("  ", padded(word, 8), text::escape_hidden(each.get("path")->as_string()),
                          "\n"));
    }
    for (const shell::Warning& each : forecast.prediction.warnings) {
        cat_to(lines, cat("  ", each.kind, ": ", text::escape_hidden(each.word), ": ",
                          text::escape_hidden(each.why), "\n"));
    }
    if (lines.empty()) lines = "  it changes no file\n";

    std::string words(name_of(forecast.decision));
    std::replace(words.begin(), words.end(), '_', ' ');
    CommandReport out;
    out.text = cat(coloured(words, colour_of(forecast.decision)), "\n", lines,
                   objection_lines("forbidden", *value.find("violations")),
                   objection_lines("needs approval", *value.find("escalations")));
    out.structured = std::move(value);
    return out;
}

}  // namespace quire::cli

// A unit is known by its directory, its file and its command: with the same three, and with inputs
// whose stamps are the same, a check would find the same, and is not made again. Reading the list
// costs its bytes; choosing costs patterns times paths.
#include "diagnostics/units.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "diagnostics/reach.h"

namespace quire::diagnostics {
namespace {

std::string key_of(const CompileUnit& unit) {
    std::string out = cat(unit.directory, "\n", unit.file);
    for (const std::string& word : unit.arguments) cat_to(out, "\n"), cat_to(out, word);
    return out;
}

}  // namespace

std::shared_ptr<const Choice> choose(std::shared_ptr<const Units> units, const CheckConfig& config,
                                     const std::stop_token& stop) {
    auto out = std::make_shared<Choice>(Choice{std::move(units), config, {}});
    for (const Listed& each : out->units->listed) {
        if (stop.stop_requested()) return nullptr;
        if (config.has_path(each.path)) out->chosen.push_back(&each);
    }
    return out;
}

// An entry belongs to the workspace if its file leads there, by whatever name the list calls it.
Result<Units> read_units(const std::string& file, const Reach& reach, const std::string& root) {
    const Result<std::string> text = read_trusted(file, reach);
    if (!text && text.error().code() != Errc::not_found) return Failure(text.error());
    if (!text) {
        return fail(
            Errc::not_found, "file_not_found",
            cat("cannot read ", file,
                "; let the build system write it (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON), "
                "or name another in quire.toml"));
    }
    const std::string base = absolute_path(file, "..");
    const std::string below = root == "/" ? root : root + "/";
    Units out;
    for (CompileUnit& unit : TRY(parse_compile_commands(*text, base))) {
        std::optional<std::string> path = reach.below_root(unit.file);
        if (!path) {
            ++out.outside;
            continue;
        }
        // Its own name, where that is one from the root: findings have it too.
        if (unit.file.starts_with(below)) path = unit.file.substr(below.size());
        std::string key = key_of(unit);
        out.path_bytes += path->size();
        out.listed.push_back({std::move(unit), std::move(*path), std::move(key)});
    }
    return out;
}

bool is_current(const Checked& checked, Stamps& stamps) {
    return checked.problem.empty() &&
           std::all_of(checked.inputs.begin(), checked.inputs.end(),
                       [&](const auto& input) { return stamps.of(input.first) == input.second; });
}

std::vector<Finding> collect(const Seen& seen) {
    std::vector<Finding> out;
    for (const auto& each : seen.checks)
        out.insert(out.end(), each->findings.begin(), each->findings.end());
    sort_findings(out);
    return out;
}

bool lacks(const Seen& seen) {
    const Units& units = *seen.choice->units;
    const bool some_entries = !units.listed.empty() || units.outside > 0;
    return (seen.checks.empty() && some_entries) ||
           std::any_of(seen.checks.begin(), seen.checks.end(),
                       [](const auto& each) { return !each->problem.empty(); });
}

// One problem is told in full, and the number of the others.
std::string summary(const Seen& seen) {
    const std::size_t files = seen.checks.size();
    std::size_t failed = 0;
    std::string problem;
    for (std::size_t i = 0; i < files; ++i) {
        const std::string& why = seen.checks[i]->problem;
        if (!why.empty() && failed++ == 0) problem = cat(seen.choice->chosen[i]->path, ": ", why);
    }
    const std::size_t well = files - failed;
    std::string out = cat("checked ", well, well == 1 ? " file" : " files");
    if (failed > 0) out += cat("; ", failed, " could not be: ", problem);
    const std::size_t outside = seen.choice->units->outside;
    if (outside > 0) {
        out += cat("; ", outside, outside == 1 ? " entry is" : " entries are",
                   " outside the workspace");
    }
    return out;
}

}  // namespace quire::diagnostics

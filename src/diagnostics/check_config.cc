// Agents write the patterns, and they are matched while others wait. So their number, their
// length and the alternatives in their braces are bounded before any of them is compiled.
#include "diagnostics/check_config.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/concat.h"
#include "json/codec.h"

namespace quire::diagnostics {
namespace {

using Fault = CheckConfig::Fault;

constexpr const char* kPathsAllowed =
    "a list of globs on paths from the workspace's root, such as [\"src/**\", \"*_test.cc\"], or "
    "[] for all";
constexpr const char* kChecksAllowed =
    "a list of globs on the names of checks, such as [\"-Wshadow\", \"bugprone-*\"], each with a ! "
    "before it to leave it out, or [] for all";

memory::Field field(std::string name, memory::FieldType type, Value fallback,
                    std::string description) {
    memory::Field out;
    out.name = std::move(name);
    out.type = type;
    out.default_value = std::move(fallback);
    out.description = std::move(description);
    return out;
}

bool any_matches(const std::vector<text::Glob>& globs, std::string_view word) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const text::Glob& glob) { return glob.matches(word); });
}

// Paths are given from the root without "..", so such a pattern would match nothing, which its
// author should know.
bool leaves_the_workspace(std::string_view pattern) {
    return pattern.starts_with("../") || pattern == ".." ||
           pattern.find("/../") != std::string_view::npos || pattern.ends_with("/..");
}

// How long it is once its braces are written out, or more; Glob allows no more than 64 choices.
std::size_t weight_of(std::string_view pattern) {
    constexpr std::size_t kMostChoices = 64;
    std::size_t choices = 1;
    std::vector<std::size_t> open;
    for (const char c : pattern) {
        if (c == '{') open.push_back(1);
        if (c == ',' && !open.empty()) ++open.back();
        if (c == '}' && !open.empty()) {
            choices = std::min(choices * open.back(), kMostChoices);
            open.pop_back();
        }
    }
    return pattern.size() * choices;
}

// A number of a Map block may have been stored as a float. Below 1e15 every whole float is exact.
std::optional<std::int64_t> whole(const Value& value) {
    if (value.is_int()) return value.as_int();
    constexpr double kExact = 1e15;
    if (!value.is_float() || !(value.as_float() > -kExact && value.as_float() < kExact))
        return std::nullopt;
    const auto number = static_cast<std::int64_t>(value.as_float());
    if (static_cast<double>(number) != value.as_float()) return std::nullopt;
    return number;
}

template <class T>
std::optional<Fault> read_member(const Value& config, std::string_view name, T& out) {
    const Value* const value = config.get(name);
    if (value == nullptr) return std::nullopt;
    const json::Read<T> read = json::read<T>(*value);
    if (!read) return Fault{std::string(name), *value, read.error().wanted};
    out = *read;
    return std::nullopt;
}

}  // namespace

// Called before any pattern is compiled. The weight of both lists together bounds a match, whatever
// list is read first.
std::optional<Fault> CheckConfig::weigh(std::string_view field, const Value& list) {
    // A value that is too long is not repeated.
    const auto fault = [&](std::string what) {
        return Fault{std::string(field), std::move(what),
                     cat("at most ", kMostPatterns, " globs of at most ", kLongestPattern,
                         " bytes, with those of the other list ", kMostPatternBytes,
                         " bytes in all, where each choice in {…} counts as a glob of its own")};
    };
    if (list.as_list().size() > kMostPatterns) return fault(cat(list.as_list().size(), " globs"));
    for (const Value& each : list.as_list()) {
        if (!each.is_string()) continue;
        const std::string& pattern = each.as_string();
        if (pattern.size() > kLongestPattern)
            return fault(cat("a glob of ", pattern.size(), " bytes"));
        weight_ += weight_of(pattern);
        if (field == "paths") path_weight_ += weight_of(pattern);
    }
    if (weight_ > kMostPatternBytes) return fault(cat(weight_, " bytes of globs"));
    return std::nullopt;
}

std::optional<Fault> CheckConfig::read_paths(const Value& value) {
    const auto fault = [](const Value& what, std::string_view why = {}) {
        return Fault{"paths", what, cat(kPathsAllowed, why.empty() ? "" : "; ", why)};
    };
    if (!value.is_list()) return fault(value);
    if (auto too_much = weigh("paths", value)) return too_much;
    for (const Value& each : value.as_list()) {
        if (!each.is_string() || leaves_the_workspace(each.as_string())) return fault(each);
        Result<text::Glob> glob = text::Glob::compile(each.as_string());
        if (!glob) return fault(each, glob.error().message());
        paths_.push_back(each.as_string());
        path_globs_.push_back(std::move(*glob));
    }
    return std::nullopt;
}

// Names of checks have no '/', so a pattern with one is a mistake, most likely a path.
std::optional<Fault> CheckConfig::read_checks(const Value& value) {
    const auto fault = [](const Value& what, std::string_view why = {}) {
        return Fault{"checks", what, cat(kChecksAllowed, why.empty() ? "" : "; ", why)};
    };
    if (!value.is_list()) return fault(value);
    if (auto too_much = weigh("checks", value)) return too_much;
    for (const Value& each : value.as_list()) {
        if (!each.is_string()) return fault(each);
        std::string_view word = each.as_string();
        const bool leave_out = word.starts_with('!');
        if (leave_out) word.remove_prefix(1);
        if (word.find('/') != std::string_view::npos) return fault(each);
        Result<text::Glob> glob = text::Glob::compile(word);
        if (!glob) return fault(each, glob.error().message());
        (leave_out ? unwanted_ : wanted_).push_back(std::move(*glob));
    }
    return std::nullopt;
}

// All or nothing: `out` keeps its value when there is a fault.
std::optional<Fault> CheckConfig::read(const Value& config, CheckConfig& out) {
    CheckConfig made;
    if (auto fault = read_member(config, "enabled", made.enabled)) return fault;
    if (auto fault = read_member(config, "minimum_severity", made.minimum_severity)) return fault;
    if (const Value* value = config.get("most")) {
        const std::optional<std::int64_t> number = whole(*value);
        if (!number || *number < 1 || *number > static_cast<std::int64_t>(kMostShown))
            return Fault{"most", *value, cat("a whole number from 1 to ", kMostShown)};
        made.most = static_cast<std::size_t>(*number);
    }
    if (const Value* value = config.get("paths")) {
        if (auto fault = made.read_paths(*value)) return fault;
    }
    if (const Value* value = config.get("checks")) {
        if (auto fault = made.read_checks(*value)) return fault;
    }
    out = std::move(made);
    return std::nullopt;
}

bool CheckConfig::has_path(std::string_view path) const {
    return path_globs_.empty() || any_matches(path_globs_, path);
}

bool CheckConfig::has_check(const Finding& finding) const {
    if (finding.severity == Severity::error) return true;
    return (wanted_.empty() || any_matches(wanted_, finding.check)) &&
           !any_matches(unwanted_, finding.check);
}

std::vector<memory::Field> config_fields() {
    using memory::FieldType;
    return {field("enabled", FieldType::boolean, true, "false: nothing is run"),
            field("minimum_severity", FieldType::text, "warning", "error, warning or note"),
            field("paths", FieldType::list, List{},
                  "globs on the files that are checked and shown; none: all"),
            field("checks", FieldType::list, List{},
                  "globs on the checks that are shown, ! before one leaves it out; none: all"),
            field("most", FieldType::number, 100, "how many findings are shown, 1 to 500")};
}

// Paths and checks repeat in most outputs, so their verdicts are kept: each distinct word costs one
// match. Errors come first whatever their place, because a reader may see only the first few.
Shown show(const std::vector<Finding>& findings, const CheckConfig& config) {
    Shown out;
    std::vector<Finding> others;
    std::size_t steps = 0;
    // Beyond kMostSteps nothing is matched any more and the word counts as wanted: too much shown
    // is better than a call that hangs.
    const auto once = [&](std::map<std::string_view, bool>& known, std::string_view word,
                          const auto& matches) {
        const auto [at, is_new] = known.try_emplace(word, true);
        if (is_new) steps += config.all_steps(word.size());
        if (is_new && steps <= kMostSteps) at->second = matches();
        return at->second;
    };
    std::map<std::string_view, bool> paths;
    // The verdicts on checks of findings that are no errors.
    std::map<std::string_view, bool> checks;
    for (const Finding& each : findings) {
        if (!once(paths, each.path, [&] { return config.has_path(each.path); })) continue;
        if (each.severity != Severity::error &&
            !once(checks, each.check, [&] { return config.has_check(each); }))
            continue;
        out.errors += each.severity == Severity::error ? 1 : 0;
        out.warnings += each.severity == Severity::warning ? 1 : 0;
        if (each.severity > config.minimum_severity) continue;
        ++out.matching;
        (each.severity == Severity::error ? out.findings : others).push_back(each);
    }
    out.findings.insert(out.findings.end(), others.begin(), others.end());
    if (out.findings.size() > config.most) out.findings.resize(config.most);
    return out;
}

}  // namespace quire::diagnostics

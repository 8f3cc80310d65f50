// CheckConfig: what those who read diagnostics want to see of them, as they set it in the block's
// section `config`. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "diagnostics/findings.h"
#include "memory/field.h"
#include "text/glob.h"

namespace quire::diagnostics {

inline constexpr std::size_t kMostShown = 500;
// So many steps are a moment, also where others wait.
inline constexpr std::size_t kMostSteps = std::size_t{32} << 20;

// Patterns are matched where everybody waits: so many in a list, so long each, and so much in both
// lists together, where a pattern with braces counts once for each choice that they leave.
inline constexpr std::size_t kMostPatterns = 64;
inline constexpr std::size_t kLongestPattern = 256;
inline constexpr std::size_t kMostPatternBytes = std::size_t{4} << 10;

class CheckConfig {
public:
    bool enabled = true;
    Severity minimum_severity = Severity::warning;
    std::size_t most = 100;

    // Which files are checked, and shown: none given is all.
    bool has_path(std::string_view path) const;
    // Returns true if the config shows a finding, by its path and its check.
    bool has(const Finding& finding) const { return has_path(finding.path) && has_check(finding); }
    // Errors are shown whatever the checks are.
    bool has_check(const Finding& finding) const;
    // How many steps has_path() takes for paths of so many bytes in all, at most.
    std::size_t steps(std::size_t path_bytes) const { return path_weight_ * path_bytes; }
    // Likewise has(), of a path and a check.
    std::size_t all_steps(std::size_t bytes) const { return weight_ * bytes; }
    // Returns true if the same files are checked.
    bool same_files(const CheckConfig& other) const { return paths_ == other.paths_; }

    // The part of a config that cannot be followed.
    struct Fault {
        std::string field;
        Value value;
        std::string allowed;  // The values that would be right.
    };
    // `config` as the section reads: what is missing is the default.
    static std::optional<Fault> read(const Value& config, CheckConfig& out);

private:
    std::optional<Fault> read_paths(const Value& value);
    std::optional<Fault> read_checks(const Value& value);
    std::optional<Fault> weigh(std::string_view field, const Value& list);

    std::vector<std::string> paths_;
    std::vector<text::Glob> path_globs_;
    std::vector<text::Glob> wanted_;    // Patterns for checks.
    std::vector<text::Glob> unwanted_;  // Those with a '!' before them.
    std::size_t weight_ = 0;            // Bytes of all patterns, without braces.
    std::size_t path_weight_ = 0;       // The part of it for paths.
};

// The fields of the section.
std::vector<memory::Field> config_fields();

// The sorted findings that a config shows. Each path and each check is matched once. If there are
// too many to match at once, the rest is let through.
struct Shown {
    std::size_t errors = 0;  // The errors among findings that the paths and checks let through.
    std::size_t warnings = 0;
    std::size_t matching = 0;       // All of them that are grave enough.
    std::vector<Finding> findings;  // The first `most` of them: errors before the others.
};
Shown show(const std::vector<Finding>& findings, const CheckConfig& config);

}  // namespace quire::diagnostics

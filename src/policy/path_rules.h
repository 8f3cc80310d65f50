// The operations that a path of the workspace allows, and the reason.
//
// Built-in protections come first, then the rules in file order: the first rule that matches
// decides. Without a match the path is read-only. A path is relative to the workspace's root and
// already resolved: the caller has opened it, and asks both for a link and for its target
// (stricter()). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/actor.h"
#include "policy/permission.h"
#include "text/charset.h"
#include "text/glob.h"

namespace quire::policy {

// One rule of quire.toml: a pattern, the permission it gives, and the operations that need an
// approval.
struct PathRule {
    text::Glob pattern;
    Permission permission = Permission::read_only;
    Operations escalated;  // operations_requiring_escalation
    std::size_t line = 0;  // In quire.toml; 0 when it comes from elsewhere.
    // The encoding of files that are neither UTF-8 nor marked as UTF-16.
    std::optional<text::Charset> encoding = {};
};

// The reason for a decision: a protection that nobody can change, a rule (its 0-based index), or
// that no rule matches.
struct Because {
    enum class Kind { built_in, rule, no_rule };
    Kind kind = Kind::no_rule;
    std::size_t rule = 0;
    friend bool operator==(const Because&, const Because&) = default;
};

// The verdict on one operation on one path, with the permission and the reason.
struct Decision {
    Verdict verdict = Verdict::deny;
    Permission permission = Permission::read_only;
    Because because;
    std::string why;  // "rule 2 (docs/**, line 14 of quire.toml) makes docs/a.md append" …
};

// The decision as an answer to the caller, `approved` being what would escalate and a person has
// approved. Errors: denied "permission_denied" {path, permission}; escalation_required
// "escalation_required" {path, operation, permission}.
Result<void> permit(const Decision& decision, Operation operation, const Actor& by,
                    const std::string& path, Operations approved);
// A save needs the permission to append at least. Where a person has to approve even that, they are
// asked for what a save does, which is to overwrite.
Operation operation_of_save(const Decision& append, const Decision& overwrite);

// The decision for a file reached through a link: the stricter of the link's and its target's.
Decision stricter(Decision link, Decision target);

// The rules of a workspace. A value; thread-safe to read.
class PathRules {
public:
    PathRules() = default;
    explicit PathRules(std::vector<PathRule> rules) : rules_(std::move(rules)) {}

    // A person's own call counts as the approval that an escalation asks for.
    Decision decide(std::string_view path, Operation operation, const Actor& by) const;
    // The decision for a change that a command makes to what is_git_state() names: that of the rules, as
    // if .git were not protected. Any other path is decided as above.
    Decision decide_git_state(std::string_view path, Operation operation, const Actor& by) const;
    // Text of several lines for `quire rules explain`: the deciding rule, then the verdict on each
    // operation.
    std::string explain(std::string_view path, const Actor& by) const;

    // The encoding that the first rule for the path names.
    std::optional<text::Charset> encoding(std::string_view path) const;

    const std::vector<PathRule>& rules() const { return rules_; }
    // Returns true if both have the same rules in the same order, in whichever lines of quire.toml.
    bool same_as(const PathRules& other) const;

private:
    Decision by_rule(std::string_view path, Operation operation, const Actor& by) const;
    const PathRule* rule_for(std::string_view path) const;

    std::vector<PathRule> rules_;
};

// Returns true for paths that nobody may read: everything below .quire/, where the kernel keeps all
// documents.
bool is_hidden(std::string_view path);
// Returns true for what Quire itself is run by, at any depth and in any case: quire.toml, and .quire and
// everything below it.
bool is_of_quire(std::string_view path);
// Returns true for paths that no rule can open for writing: at any depth and in any case .git, .quire,
// .githooks, .husky and everything below them, quire.toml, and the hooks of a bare repository
// (NAME.git/hooks).
bool is_protected(std::string_view path);
// Returns true for what git writes when it commits in the repository at the workspace's root, and which runs no
// program: objects, references and their logs, the index, HEAD and its like. False for settings, hooks,
// links to other repositories, and the steps of a rebase, which may name programs.
bool is_git_state(std::string_view path);

}  // namespace quire::policy

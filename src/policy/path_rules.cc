// Two kinds of answers: protections, which are built in and which no rule can lift, and rules, of
// which the first whose pattern matches decides. Rules compare a path as it is written. Protections
// compare the names that any file system may take its components for, as they must hold on all of
// them.
#include "policy/path_rules.h"

#include <algorithm>
#include <array>

#include "base/concat.h"
#include "base/utf8.h"
#include "text/escape_hidden.h"

namespace quire::policy {
namespace {

// Characters without width, and those that change the direction of writing. HFS+ ignores such in
// names.
bool is_ignorable(char32_t c) {
    return c == 0xAD || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

// The name that a component stands for on any file system: some ignore case, in Unicode's sense
// where two letters beyond ASCII fold to an ASCII one; some ignore characters that cannot be seen,
// and some dots and spaces at the end.
std::string lower(std::string_view word) {
    std::string out;
    const bool is_utf8 = utf8::is_valid(word);
    for (std::size_t at = 0; at < word.size();) {
        const char32_t c =
            is_utf8 ? utf8::decode(word, at) : static_cast<unsigned char>(word[at++]);
        if (is_utf8 && is_ignorable(c)) continue;
        if (c == 0x17F) {
            out.push_back('s');
        } else if (c == 0x212A) {
            out.push_back('k');
        } else if (c >= 'A' && c <= 'Z') {
            out.push_back(static_cast<char>(c - 'A' + 'a'));
        } else if (is_utf8) {
            utf8::append(out, c);
        } else {
            out.push_back(static_cast<char>(c));
        }
    }
    while (!out.empty() && (out.back() == '.' || out.back() == ' ')) out.pop_back();
    return out;
}

bool is_hex_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Calls `take(component, is_last)` until it returns true.
template <class F>
bool any_component(std::string_view path, F take) {
    while (true) {
        const std::size_t slash = path.find('/');
        if (take(lower(path.substr(0, slash)), slash == std::string_view::npos)) return true;
        if (slash == std::string_view::npos) return false;
        path.remove_prefix(slash + 1);
    }
}

}  // namespace

bool is_hidden(std::string_view path) {
    return any_component(path, [](const std::string& name, bool) { return name == ".quire"; });
}

bool is_of_quire(std::string_view path) {
    return any_component(path, [](const std::string& name, bool is_last) {
        return name == ".quire" || (is_last && name == "quire.toml");
    });
}

// Compares the names that components may stand for: ".GIT" may be the same directory as ".git".
bool is_protected(std::string_view path) {
    if (is_of_quire(path)) return true;
    std::string before;
    return any_component(path, [&](const std::string& name, bool) {
        if (name == ".git" || name == ".githooks" || name == ".husky") return true;
        if (name == "hooks" && before.size() > 4 && before.ends_with(".git")) return true;
        before = name;
        return false;
    });
}

// A list of what is open, so that what a later git adds is closed, and so is each other spelling of a
// name where the file system ignores case.
bool is_git_state(std::string_view path) {
    constexpr std::string_view kRepository = ".git/";
    if (!path.starts_with(kRepository)) return false;
    path.remove_prefix(kRepository.size());
    const std::string_view first = path.substr(0, path.find('/'));
    if (first == "refs" || first == "logs") return true;
    if (first == "objects") {
        path.remove_prefix(first.size());
        if (path.empty() || path == "/info") return true;
        path.remove_prefix(1);
        if (path == "info/packs" || path.starts_with("info/commit-graph")) return true;
        // A loose object is in the directory of the first two digits of its name.
        const std::string_view folder = path.substr(0, path.find('/'));
        return folder == "pack" ||
               (folder.size() == 2 && std::ranges::all_of(folder, is_hex_digit));
    }
    constexpr std::array<std::string_view, 15> kFiles = {
        "HEAD",       "ORIG_HEAD",      "FETCH_HEAD", "MERGE_HEAD",       "MERGE_MSG",
        "MERGE_MODE", "MERGE_RR",       "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD",
        "SQUASH_MSG", "COMMIT_EDITMSG", "index",      "packed-refs",      "gc.log"};
    return std::ranges::find(kFiles, path) != kFiles.end();
}

Result<void> permit(const Decision& decision, Operation operation, const Actor& by,
                    const std::string& path, Operations approved) {
    if (decision.verdict == Verdict::allow) return {};
    if (decision.verdict == Verdict::escalate && approved.has(operation)) return {};
    const std::string what =
        cat(by.str(), " may not ", name_of(operation), " ", text::escape_hidden(path));
    if (decision.verdict == Verdict::deny) {
        const bool by_rule = decision.because.kind != Because::Kind::built_in;
        return fail(Errc::denied, "permission_denied",
                    cat(what, ": ", decision.why,
                        by_rule ? ". A person can change the rules in quire.toml" : ""),
                    {{"path", path}, {"permission", name_of(decision.permission)}});
    }
    return fail(Errc::escalation_required, "escalation_required",
                cat(what, " without a person's approval: ", decision.why),
                {{"path", path},
                 {"operation", name_of(operation)},
                 {"permission", name_of(decision.permission)}});
}

Operation operation_of_save(const Decision& append, const Decision& overwrite) {
    const bool asks = append.verdict == Verdict::escalate && overwrite.verdict == Verdict::escalate;
    return asks ? Operation::overwrite : Operation::append;
}

// The worse verdict wins; between equal verdicts the stricter permission does.
Decision stricter(Decision link, Decision target) {
    const bool target_wins = target.verdict > link.verdict || (target.verdict == link.verdict &&
                                                               target.permission < link.permission);
    return target_wins ? std::move(target) : std::move(link);
}

const PathRule* PathRules::rule_for(std::string_view path) const {
    const auto rule = std::ranges::find_if(
        rules_, [&](const PathRule& each) { return each.pattern.matches(path); });
    return rule == rules_.end() ? nullptr : &*rule;
}

bool PathRules::same_as(const PathRules& other) const {
    return std::ranges::equal(rules_, other.rules_, [](const PathRule& a, const PathRule& b) {
        return a.pattern.pattern() == b.pattern.pattern() && a.permission == b.permission &&
               a.escalated == b.escalated && a.encoding == b.encoding;
    });
}

std::optional<text::Charset> PathRules::encoding(std::string_view path) const {
    const PathRule* const rule = rule_for(path);
    return rule == nullptr ? std::nullopt : rule->encoding;
}

// The order is protections, rules, default. The reason is built along with the decision, so that an
// explanation always names the rule that was used.
Decision PathRules::decide(std::string_view path, Operation operation, const Actor& by) const {
    Decision decision;
    if (is_protected(path)) {
        const bool readable = operation == Operation::read && !is_hidden(path);
        decision.verdict = readable ? Verdict::allow : Verdict::deny;
        decision.because = {Because::Kind::built_in, 0};
        decision.why = cat(text::escape_hidden(path),
                           is_hidden(path) ? " belongs to the kernel's own state" : " is protected",
                           ", whatever the rules say");
        return decision;
    }
    return by_rule(path, operation, by);
}

Decision PathRules::decide_git_state(std::string_view path, Operation operation,
                                     const Actor& by) const {
    return is_git_state(path) ? by_rule(path, operation, by) : decide(path, operation, by);
}

Decision PathRules::by_rule(std::string_view path, Operation operation, const Actor& by) const {
    Decision decision;
    const PathRule* const rule = rule_for(path);
    if (rule == nullptr) {
        decision.verdict = verdict(Permission::read_only, operation, Deleting::owner);
        decision.because = {Because::Kind::no_rule, 0};
        decision.why = cat("no rule in quire.toml matches ", text::escape_hidden(path),
                           ", so it is read_only");
        return decision;
    }
    const auto index = static_cast<std::size_t>(rule - rules_.data());
    decision.permission = rule->permission;
    decision.because = {Because::Kind::rule, index};
    decision.verdict = verdict(rule->permission, operation, Deleting::owner);
    const bool listed = rule->escalated.has(operation);
    if (listed && decision.verdict == Verdict::allow) decision.verdict = Verdict::escalate;
    if (by.kind == ActorKind::human && decision.verdict == Verdict::escalate)
        decision.verdict = Verdict::allow;
    decision.why = cat("rule ", index + 1, " ('", rule->pattern.pattern(), "'",
                       rule->line > 0 ? cat(", line ", rule->line, " of quire.toml") : "",
                       ") makes ", text::escape_hidden(path), " ", name_of(rule->permission),
                       listed ? cat(", with an approval for ", name_of(operation)) : "");
    return decision;
}

std::string PathRules::explain(std::string_view path, const Actor& by) const {
    std::string out = cat(decide(path, Operation::read, by).why, "\n");
    for (const Operation each : kOperations) {
        out += cat("  ", name_of(each), ": ", name_of(decide(path, each, by).verdict), "\n");
    }
    return out;
}

}  // namespace quire::policy

// Contradictions in a set of rules, found before any call is made.
//
// An error is certain: what it calls impossible is impossible, whatever the agent calls and however
// long it tries. And if all rules count per session, a set in which no loop can ever end is always
// found. tests/model/ checks both claims against a search of all possible calls. Failing calls are
// not considered: a set may still be driven to a point where max_calls leaves nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "policy/rule_set.h"

namespace quire::policy {

// One problem of a set of rules.
struct RuleFinding {
    enum class Kind : std::uint8_t {
        // Errors.
        never_ends,  // No loop can ever end.
        dead_end,    // No loop in which `tool` has succeeded can end.
        // A start_constraint is on `tool`, which can never be called.
        cannot_begin,
        // Tools wait for each other; `tool` is one of them.
        cycle,
        // `tool` needs tools that exclude each other.
        excluded,
        // A tool needs `tool`, which agents do not have.
        waits_in_vain,
        ends_and_continues,  // exit_loop and continue_loop for `tool`.
        // Warnings.
        // A loop can end only thanks to another conversation or session.
        never_ends_alone,
        never_called,  // A rule about `tool`, which can never be called.
        // Another rule replaces this one, is stricter or says the same.
        without_effect,
        // The rule is for a tool that agents do not have, or not yet.
        not_built,
        one_loop,  // A session can do its first loop and no other.
        // It would be an error if all agents were in one profile.
        not_in_profile,
    };
    friend constexpr auto words_of(Kind) {
        return word_table("never_ends", "dead_end", "cannot_begin", "cycle", "excluded",
                          "waits_in_vain", "ends_and_continues", "never_ends_alone", "never_called",
                          "without_effect", "not_built", "one_loop", "not_in_profile");
    }
    Kind kind = Kind::never_ends;
    std::string tool = {};                // "" if the finding is about no single tool.
    std::vector<std::string> also = {};   // Other tools with the same problem by the same rules.
    std::vector<std::size_t> rules = {};  // Indices into RuleSet::rules() of the rules behind it.
    std::string message = {};             // One sentence that names the rules.

    bool is_error() const { return kind <= Kind::ends_and_continues; }
};

// Errors first; a stable order within each kind. O(tools × (tools + rules) × exits) at worst.
std::vector<RuleFinding> analyse(const RuleSet& rules);
// Only the errors, for agents in `profile`.
std::vector<RuleFinding> errors_in_profile(const RuleSet& rules, std::string_view profile);

}  // namespace quire::policy

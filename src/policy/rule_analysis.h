// What is wrong with a set of rules, found before any call is made.
//
// An error is certain: what it says can never happen cannot, whatever the agent calls and however
// long it tries. And where all rules count per session, a set in which no loop can ever end is
// always found. tests/model/ holds both against a search of all that can be called. A call that
// fails is not thought of: a set may still be driven to where max_calls leaves nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rule_set.h"

namespace quire::policy {

struct RuleFinding {
    enum class Kind : std::uint8_t {
        // Errors.
        never_ends,          // No loop can ever end.
        dead_end,            // No loop in which `tool` has succeeded can end.
        cannot_begin,        // A start_constraint on `tool`, which can never be called.
        cycle,               // Tools that wait for each other; `tool` is one.
        excluded,            // `tool` needs tools that exclude each other.
        waits_in_vain,       // A tool needs `tool`, which is not there for agents.
        ends_and_continues,  // exit_loop and continue_loop for `tool`.
        // Warnings.
        never_ends_alone,  // A loop can end with what another conversation or session did.
        never_called,      // A rule about `tool`, which can never be called.
        without_effect,    // Another rule stands in its place, is stricter or the same.
        not_built,         // A rule for a tool that is not there for agents, or not yet.
        one_loop,          // A session can do its first loop and no other.
        not_in_profile,    // What would be an error where all agents were in one profile.
    };
    Kind kind = Kind::never_ends;
    std::string tool = {};                // "" where it is about no one tool.
    std::vector<std::string> also = {};   // Other tools of which the same is true by these rules.
    std::vector<std::size_t> rules = {};  // RuleSet::rules(), those behind it.
    std::string message = {};             // A sentence, which names the rules.

    bool is_error() const { return kind <= Kind::ends_and_continues; }
};
std::string_view name_of(RuleFinding::Kind kind);

// Errors first; each in a stable order. O(tools × (tools + rules) × ends) at worst.
std::vector<RuleFinding> analyse(const RuleSet& rules);
// The errors alone, for agents in `profile`.
std::vector<RuleFinding> errors_in_profile(const RuleSet& rules, std::string_view profile);

}  // namespace quire::policy

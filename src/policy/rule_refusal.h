// Shared by the sources of RuleAutomaton: its private types, and walking a set of tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "policy/rule_automaton.h"

namespace quire::policy {

// The facts that one call is checked against: those of its session, its conversation, and of all
// time.
// Valid while the automaton and its ledger stay as they are. `now` is in steady milliseconds.
struct RuleAutomaton::CountedFacts {
    const ToolFacts* facts[std::size(kEvery<Per>)];
    std::int64_t now;

    const ToolFacts& of(Per per) const { return *facts[static_cast<std::size_t>(per)]; }
};

// A rule that refuses a call, with the check that failed.
struct RuleAutomaton::Refusal {
    std::uint32_t rule = 0;
    const RuleCheck* check = nullptr;  // Null for a start_constraint.
};

// Calls `take(tool)` for each tool of the set, in catalog order.
template <class F>
void each_of(std::span<const RuleCheck::Part> parts, F take) {
    for (const RuleCheck::Part& part : parts) {
        for (std::uint64_t bits = part.bits; bits != 0; bits &= bits - 1) {
            take(std::size_t{part.word} * 64 + static_cast<std::size_t>(__builtin_ctzll(bits)));
        }
    }
}

// The period in a message: "in this session" …
std::string scope_words(Per per);
// The answer for a tool that the catalog lacks.
CallDecision unknown_tool(const ToolCall& call, const ToolCatalog& catalog);

}  // namespace quire::policy

// Small sets of rules at random, over a few tools.
#pragma once

#include <vector>

#include "crdt/undo/random_script_for_test.h"
#include "policy/tool_catalog.h"
#include "policy/tool_rule.h"

namespace quire::rules_model {

// Five tools, two of which declare operations.
policy::ToolCatalog few_tools();

struct RandomRules {
    std::vector<policy::ToolRule> common;
    std::vector<policy::ToolRule> own;
};
struct RuleWishes {
    bool sessions_alone = false;  // All count per session.
    bool gating = false;          // Half of them are allowed_operations.
    bool demanding = false;       // Mostly what orders tools and ends loops.
};
// One for each part. Their lines are 1, 2, ….
RandomRules random_rules(crdt::Tape& tape, std::vector<crdt::Draws>& parts, RuleWishes wishes);

}  // namespace quire::rules_model

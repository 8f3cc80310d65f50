// Judges a predicted command by the rules for files.
#pragma once

#include <string>
#include <vector>

#include "base/enum_words.h"
#include "policy/path_rules.h"
#include "shell/enforcement.h"
#include "shell/prediction.h"

namespace quire::shell {

// `block` refuses the command before it runs; `require_escalation` asks a person first.
enum class Decision { allow, allow_with_warning, block, require_escalation };
constexpr auto words_of(Decision) {
    return word_table("allow", "allow_with_warning", "block", "require_escalation");
}

// The decision under a level, of one that holds under "strict". "warned" turns all but `allow` into
// a warning; "audit" and "none" allow everything.
Decision under(Enforcement level, Decision decision);

// An effect that the rules forbid, or that a person has to approve.
struct Objection {
    std::string path;
    Effect effect = Effect::read;
    std::string permission;  // The path's.
    std::string reason;      // The rule, in words.
};

// The objections have the order of the effects. `decision` also counts warnings, which have no
// objection.
struct Judgement {
    Decision decision = Decision::allow;
    std::vector<Objection> violations;
    std::vector<Objection> escalations;
};

// Decides each effect by the rules of its path; an effect on all below a directory is decided for each
// file there now, up to some thousands. Writing outside of the workspace is a violation, except in
// Situation::own_places. Warnings count too: of another right it is blocked, of the
// network or of files that are not known to be deleted or written it is escalated. As under the level
// "strict". Pure.
Judgement judge(const Prediction& prediction, const Situation& situation, const TreeView& tree,
                const policy::PathRules& rules, const policy::Actor& by);

}  // namespace quire::shell

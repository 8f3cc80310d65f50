// Enforcement: how strictly the rules for files bind commands.
// The level comes from `[shell] enforcement`. The forecast uses it before a command runs (judge.h),
// and the gate when it has run (kernel/commands/command_gate.h).
#pragma once

#include "base/enum_words.h"

namespace quire::shell {

// A forbidden effect refuses the command, is left out, or is only told; under `none` nothing is even
// looked at.
enum class Enforcement { strict, warned, audit, none };
constexpr auto words_of(Enforcement) {
    return word_table("strict", "warned", "audit", "none");
}

}  // namespace quire::shell

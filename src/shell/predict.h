// Predicts what a script does to files, without running it.
//
// The script is executed in the abstract: every branch is taken, a variable has the values that it
// may have, and a working directory is a set, for a cd may fail. Files and links that the script
// itself makes are seen by what follows. Models (models.h) know what each command does with its
// operands. Whatever has no model, no known value or too many of them becomes a warning, so that a
// script without warnings does nothing but what is predicted. Pure and deterministic, and bounded
// by a number of steps.
#pragma once

#include <string_view>

#include "base/result.h"
#include "shell/prediction.h"
#include "shell/syntax.h"

namespace quire::shell {

// A script that takes too many steps has the warning "too_complex".
Prediction predict(const Script& script, const Situation& situation, const TreeView& tree);

}  // namespace quire::shell

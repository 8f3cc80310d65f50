// The naive styled text: for each character, every style is asked whether it lies around it.
#pragma once

#include <span>

#include "crdt/ids/change.h"
#include "crdt/ids/diff.h"

namespace quire::model {

// A text with its styles after these changes, as TextView::delta() gives it.
crdt::TextDelta styled(std::span<const crdt::Change> changes, const crdt::ContainerId& text);

}  // namespace quire::model

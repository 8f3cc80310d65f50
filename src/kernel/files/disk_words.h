// The words for a file's state on the disk, and for the outcome of a change there. They are in the
// answers of the tools, so they stay as they are.
#pragma once

#include "base/enum_words.h"

namespace quire::kernel {

// The disk compared with what was last seen there.
enum class Disk { same, changed, missing };
constexpr auto words_of(Disk) {
    return word_table("same", "changed", "missing");
}

// The outcome for the text where a change of the disk met the document's: it has the disk's
// text now, the document's own, or both.
enum class Resolution { disk_wins, agent_wins, merge };
constexpr auto words_of(Resolution) {
    return word_table("DiskWins", "AgentWins", "Merge");
}

}  // namespace quire::kernel

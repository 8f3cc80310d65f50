// The files that a command must not see: those that its actor may read only with an approval.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/files/file_gate.h"

namespace quire::kernel {

// The most files that are looked at.
inline constexpr std::size_t kMostLookedAt = 1'000'000;

// Their paths, sorted, with all the names that hard links give them. With `and_from_agents` also the
// files that an agent of that name may not read. Walks the workspace if any rule hides files, and is
// else almost free. A path need not be UTF-8: a rule for a whole directory hides such files too.
//
// An unknown list hides nothing, so a command must not run after an error: those of
// FileSystem::list(); out_of_range "too_large" {limit} for a workspace of more files than `most`.
Result<std::vector<std::string>> files_hidden_from(FileGate& gate, const policy::Actor& by,
                                                   bool and_from_agents,
                                                   std::size_t most = kMostLookedAt);

}  // namespace quire::kernel

// The text that belongs into an agent's context, as `quire context render` prints it and as the
// resource context://AGENT is read.
#pragma once

#include <string>
#include <vector>

#include "base/function.h"
#include "kernel/core/caller.h"

namespace quire::kernel {
class MemoryCalls;
}

namespace quire::server {

// A part of it: a memory block as a model reads it, or the rules for tools.
struct ContextPiece {
    std::string name;  // The block's label, or "rules for tools".
    std::string text;  // Ends with a newline.
};

// The pieces in the order in which a model reads them: the caller's core memory, its pinned working
// memory, and `rules`, one sentence each; `describes` as in kernel::MemoryLook. O(what they say). `memory` outlives the reply. Errors:
// those of MemoryCalls::list() and view().
void agent_context(kernel::MemoryCalls& memory, const kernel::Caller& by,
                   std::vector<std::string> rules, bool describes,
                   Reply<std::vector<ContextPiece>> reply);

// All of them as one text, an empty line between two.
std::string joined(const std::vector<ContextPiece>& pieces);

}  // namespace quire::server

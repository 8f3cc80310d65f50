// The plain text of a memory block, for callers that know it by its id alone.
#pragma once

#include <string>

#include "base/result.h"
#include "kernel/core/oversight.h"
#include "policy/actor.h"

namespace quire::kernel {

class LiveDocument;

// The block as plain text (memory/plain_text.h). On its strand. Errors: not_found
// "invalid_reference" for a block that the actor may not see; corrupt.
Result<std::string> plain_text_of_memory(LiveDocument& document, const policy::Actor& by);
// The block as all see it who may, and at a version its text as it was, by the schema of then. On its
// strand. Errors: corrupt; those of History::load().
Result<ShownMemory> shown_memory(LiveDocument& document, const BlockAt* at);

}  // namespace quire::kernel

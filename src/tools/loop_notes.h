// Notes about a call's effect on its agent's loop, for the program that runs the model: it learns
// when a rule ends the loop, and which calls are still owed.
#pragma once

#include <cstdint>

#include "base/value.h"

namespace quire::kernel {
class RuleCalls;
struct Caller;
}  // namespace quire::kernel
namespace quire::policy {
enum class LoopStep : std::uint8_t;
}

namespace quire::tools {

// Adds to a result's _meta what docs/rules.md says of "quire/loop" and "quire/due", after the call
// has ended with `step`. Adds nothing where no rule is about a loop or none is running. The agent's
// model does not see it. O(rules that are about a loop).
void tell_host(kernel::RuleCalls& rules, const kernel::Caller& by, policy::LoopStep step,
               Map& meta);

}  // namespace quire::tools

// The part of `quire hook` that is about adopted trees: what others do to the same files, landing and
// refreshing around an agent's turns, and the work trees that an agent asks for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/commands/command.h"
#include "cli/exchange/hook_event.h"
#include "cli/settings/config.h"

namespace quire::cli {

class CommandClient;

// Says who else has changed these files of the tree; "" where nobody has, or it cannot be known. `tree` is
// "" for the workspace. One request; none where no tree was ever adopted.
std::string claims_text(CommandClient& client, const Globals& globals, const HookEvent& event,
                        const std::string& tree, const std::vector<std::string>& paths);

// Refreshes the tree before a turn, and lands it after one.
HookAnswer answer_turn(const Globals& globals, const HookEvent& event, const std::string& tree,
                       LandWhen when);

// Makes the work tree that the agent asks for, with the workspace's files as they are, and adopts it for the
// actor. Returns its path. Errors: invalid_argument "invalid_arguments" for a name that is no file's; those
// of the kernel.
Result<std::string> make_worktree(const Globals& globals, const HookEvent& event);
// Lands what is left in the work tree, and removes it. Errors: those of the kernel; a tree with changes
// that are not landed stays.
Result<void> remove_worktree(const Globals& globals, const HookEvent& event, LandWhen when);

}  // namespace quire::cli

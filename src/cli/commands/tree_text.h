// Adopted trees on the command line: naming one, and the words for what became of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/commands/command.h"
#include "server/tree_rows.h"

namespace quire::cli {

// Exit codes of `quire land` and `quire refresh`, beside kDone and kRefused.
constexpr int kConflictLeft = 3;
constexpr int kBusy = 4;

// A directory as a person types it, absolute.
std::string typed_directory(const std::string& typed);
std::string conflict_text(const server::TreeConflictRow& row);
// "12 seconds", "3 hours".
std::string age_words(std::int64_t seconds);
// The action of `quire land` and `quire refresh`: takes the tree that is typed, or those that the kernel chooses
// from the working directory. `method` is one of server/command_session.h; `waits` ends the option's help.
CommandAction sync_action(std::string_view method, std::string_view waits);

}  // namespace quire::cli

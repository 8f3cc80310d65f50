// Acknowledged commits that a workspace's store has lost, and how people are told.
#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace quire::cli {

// All losses that nobody has put away yet. Reads names of directories only, so it may be called
// while a kernel runs, and for a workspace without a store.
std::vector<store::LostCommits> store_losses(const std::string& workspace);
// Says what is missing, where the log is, and what to do.
std::string loss_message(const store::LostCommits& lost);

}  // namespace quire::cli

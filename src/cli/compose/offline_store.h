// The store of a workspace in which no kernel runs: backup, salvage, restore and check.
//
// Every function takes the workspace's lock while it works, so no kernel starts meanwhile. Errors of
// all: not_found "no_store" where the workspace has none; unavailable "workspace_locked" {pid}.
#pragma once

#include <string>

#include "base/result.h"
#include "kernel/recovery/salvage.h"
#include "kernel/recovery/store_check.h"

namespace quire::cli {

// Returns true if the workspace has a store, in whatever state.
bool has_store(const std::string& workspace);

// Writes a consistent copy of the store into the new file `file`. Errors: those of
// store::Store::back_up() and store::open_sqlite().
Result<void> back_up_offline(const std::string& workspace, const std::string& file);

// Reads a copy of the store, which it keeps in `directory`/store, so that the store itself stays as
// it is. A store that does not even open is copied, and the manifest says so. Errors: those of
// kernel::salvage().
Result<kernel::Salvaged> salvage_offline(const std::string& workspace, const std::string& directory,
                                         const std::string& version);

// Errors: those of kernel::check_store(); corrupt where the store does not open.
Result<kernel::StoreCheck> check_offline(const std::string& workspace);

// Gives a workspace without a store the one in `file`, once a check of a copy found nothing wrong
// with it. Returns what was checked. Errors: conflict "store_exists" {path}; not_found "no_file"
// {file}; corrupt "damaged_backup" {file, findings}, and nothing was made.
Result<kernel::StoreCheck> restore_store(const std::string& workspace, const std::string& file);

}  // namespace quire::cli

// The directory .quire as a kernel process begins with it.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/compose/compose.h"
#include "server/state_directory.h"
#include "store/store.h"

namespace quire::cli {

// The state directory belongs to this machine, so it keeps itself out of version control. A file
// that is there already is left as it is. Errors: unavailable "workspace_not_writable" {path}.
Result<void> write_ignore_file(const server::StateDirectory& state);
// Without a store there is nothing to copy, and the look is at an empty one. Errors: those of
// store::copy_store() and StateDirectory::at().
Result<server::StateDirectory> copied_state(const KernelProcessOptions& options);
// Tells the store from every other. "" where a damaged store does not know.
std::string store_id(store::Store& store);
// The path without links, or itself where it cannot be followed.
std::string real_path(const std::string& path);

}  // namespace quire::cli

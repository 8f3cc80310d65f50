// The evidence that is kept when acknowledged commits are missing: a directory
// `lost-commits-FIRST-LAST` beside the database, with the log and the file last-commit as they were
// found. Its name is the record of
// the loss, until somebody takes it away.
#pragma once

#include <string>

#include "base/result.h"
#include "store/last_commit.h"
#include "store/store.h"

namespace quire::store {

// Copies the log of the database `path`, and the mark, into a new directory, flushed. Errors:
// unavailable "disk_full", "store_not_writable".
Result<LostCommits> keep_log_aside(const std::string& path, const MissingCommits& missing);

}  // namespace quire::store

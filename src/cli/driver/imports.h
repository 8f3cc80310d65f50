// The import that several methods share.
#pragma once

#include <vector>

#include "cli/driver/session.h"
#include "crdt/doc/doc.h"
#include "crdt/ids/change.h"

namespace quire::cli {

// Commits the pending transaction, then imports the changes: {success, pending}.
Result<Value> import_changes(EngineDocuments& documents, EngineDocument& document,
                             const std::vector<crdt::Change>& changes, crdt::ImportOptions options);

}  // namespace quire::cli

// The import that several methods share.
#pragma once

#include <vector>

#include "cli/driver/session.h"
#include "crdt/doc/doc.h"
#include "crdt/ids/change.h"

namespace quire::cli {

// Commits the pending transaction, then imports the changes: {success, pending}. `success` and
// `pending` are {peer: [start, end]}; `pending` is null when none of the changes waits for another.
// Errors: those of crdt::Doc::import(); the pending transaction is committed all the same.
Result<Value> import_changes(EngineDocuments& documents, EngineDocument& document,
                             const std::vector<crdt::Change>& changes, crdt::ImportOptions options);

}  // namespace quire::cli

// What every op that brings others' changes into a document answers.
#pragma once

#include <vector>

#include "cli/driver/session.h"
#include "crdt/doc/doc.h"
#include "crdt/ids/change.h"

namespace quire::cli {

// Imports into the document, whose pending transaction is committed first: {success, pending}.
Result<Value> import_changes(EngineDocuments& documents, EngineDocument& document,
                             const std::vector<crdt::Change>& changes, crdt::ImportOptions options);

}  // namespace quire::cli

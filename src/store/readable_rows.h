// Reading rows of a damaged database: all that can still be read, and what cannot. Every function
// runs within its caller's transaction and lock. Errors: those of Database but for "corrupt", which
// is what they report.
#pragma once

#include <string>
#include <vector>

#include "store/database.h"
#include "store/store.h"

namespace quire::store {

// Every document, by key. One whose row cannot be read, does not fit its seal, or is gone though
// the index of names has it, is among them as damaged. O(documents).
Result<std::vector<DocumentRecord>> read_documents(Database& database);
// A document's records, without those that cannot be read.
Result<ReadableDocument> read_readable_document(Database& database, DocumentKey document);
// The highest key that any row has, 0 for none. After damage it is higher by a gap, so that the key
// of a document whose row is lost is not given out again.
Result<DocumentKey> highest_document_key(Database& database);

// Reads the whole database, row by row, and has SQLite check its structure. O(database).
Result<std::vector<StoreFault>> read_faults(Database& database);

}  // namespace quire::store

// Records as rows: the SQL of every read and write. Every function runs within its caller's
// transaction and lock. Reads check the seal of each row. Errors: those of Database.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/database.h"
#include "store/store.h"

namespace quire::store {

Result<void> write_batch(Database& database, const Batch& batch);
Result<StoredDocument> read_document(Database& database, DocumentKey document);
Result<std::vector<KeyedRecord>> read_records(Database& database, Table table);
Result<std::optional<Bytes>> read_record(Database& database, const RecordKey& key);
Result<std::vector<UnitRecord>> read_recent_units(Database& database, const std::string& actor,
                                                  std::size_t limit);
Result<DocumentMark> read_mark(Database& database, DocumentKey document);
Result<std::vector<BlockRecord>> read_whole_blocks(Database& database, const std::string& kind);

}  // namespace quire::store

// The full-text index, in SQLite's FTS5. Every function runs within its caller's transaction and
// lock.
#pragma once

#include <string>
#include <vector>

#include "store/database.h"
#include "store/store.h"

namespace quire::store {

Result<void> write_text(Database& database, const TextRecord& record);
Result<std::vector<TextHit>> find_texts(Database& database, const TextQuery& query);
Result<std::vector<DocumentKey>> read_stale_texts(Database& database, const std::string& kind);

// The query in FTS5's language. Every word of it stands between quotation marks, its own doubled,
// so that none is taken for a part of that language.
std::string match_of(const TextQuery& query);

}  // namespace quire::store

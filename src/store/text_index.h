// The full-text index, in SQLite's FTS5. Every function runs within its caller's transaction and
// lock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/database.h"
#include "store/store.h"

namespace quire::store {

// Inserts or replaces a document's text, unless a newer one is there.
Result<void> write_text(Database& database, const TextRecord& record);
// The best matches, with the snippets that show them.
Result<std::vector<TextHit>> find_texts(Database& database, const TextQuery& query);
Result<std::vector<DocumentKey>> read_stale_texts(Database& database, const std::string& kind);

// The text of a document as it was written, if one is there.
Result<std::optional<TextRecord>> read_text(Database& database, DocumentKey document);
// Makes the index anew, empty.
Result<void> reset_texts(Database& database);

// The query in FTS5's language. Every word stands between quotation marks, with its own doubled,
// so none is taken for syntax.
std::string match_of(const TextQuery& query);

}  // namespace quire::store

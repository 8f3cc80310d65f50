// Migrations: the steps that led to the present schema. docs/formats/store.md describes each
// table.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/database.h"

namespace quire::store {

// The number of steps, which is the version that this program writes.
std::int64_t schema_version();

// The statements that make the search index.
const char* text_schema();

// The number of steps that the database has taken; 0 for an empty one. Writes nothing. Errors:
// corrupt "corrupt" for another program's database; unsupported "newer_store" {found, supported}.
Result<std::int64_t> check_version(Database& database);
// Brings the database from the version that check_version() found to the present one, in one
// transaction.
Result<void> migrate(Database& database, std::int64_t found);

}  // namespace quire::store

// Migrations: the steps that led to the present schema. docs/formats/store.md describes each
// table.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/database.h"

namespace quire::store {

// The number of steps, which is the version that this program writes.
std::int64_t schema_version();

// Brings the database from its version (0: empty) to the present one, in one transaction. Errors:
// corrupt "corrupt" for another program's database; unsupported "newer_store" {found, supported}.
Result<void> migrate(Database& database);

}  // namespace quire::store

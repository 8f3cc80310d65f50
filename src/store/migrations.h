// The schema, as the steps that led to it. docs/formats/store.md says what each table promises.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/database.h"

namespace quire::store {

// The version that this program writes: how many steps there are.
std::int64_t schema_version();

// Brings the database from the step it is at (0: empty) to the present one, in one transaction.
// Errors: corrupt "corrupt" when the database is another program's; unsupported "newer_store"
// {found, supported}.
Result<void> migrate(Database& database);

}  // namespace quire::store

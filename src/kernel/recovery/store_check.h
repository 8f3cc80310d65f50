// Checking a store: every page, every record, every document and the audit log, against themselves
// and each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/fields.h"

namespace quire::store {
class Store;
}

namespace quire::kernel {

// One thing that is wrong.
struct CheckFinding {
    std::string document = {};  // Its id; "" for what belongs to none.
    std::string title = {};     // Its kind, its label or path, and its owner.
    std::string what = {};
    bool mended = false;  // It was derived from what is whole, and has been made anew.

    static json::Fields<CheckFinding> fields();
};

struct StoreCheck {
    std::size_t documents = 0;        // All there are,
    std::size_t damaged = 0;          // and those that cannot be used.
    std::uint64_t audit_entries = 0;  // Entries that follow from each other.
    std::string audit_head = {};      // The hash of the last of them.
    std::vector<CheckFinding> findings = {};

    bool is_clean() const;  // True if nothing is wrong that was not mended.
    static json::Fields<StoreCheck> fields();
};

// Checks all of it:
// - SQLite's structure and each record's checksum; rows that belong to no document;
// - each document by a replay: its updates form one history, which has every change that its units
//   of undo name; versions, writers and the header fit (kernel/core/replay.h);
// - of memory blocks that the indexed text is what the content says;
// - the chain of the audit log.
// With `mends` a search index that is wrong is made anew; nothing else is derived. Blocks, and edits
// wait for parts of it; any thread. O(store). Errors: unavailable "store_failed", "disk_full".
Result<StoreCheck> check_store(store::Store& store, bool mends);

}  // namespace quire::kernel

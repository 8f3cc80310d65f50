// Salvage: everything readable of a store, as files that need no Quire to be read.
//
//   SALVAGE.txt                what was saved and from what, and what could not be read and why
//   conversations/ID-NAME.txt  a document's text; memory/ and files/ likewise
//   conversations/ID-NAME.loro its changes as a Loro blob, which any Loro program imports
//   updates/ID-NUMBER.bin      the stored pieces of a document that could not be put together
//   audit.txt                  the audit log: number, hash and body of an entry on a line
//   quire.db                   a copy of the store, for quire restore; or in store/, as it was found
//
// NAME is the document's label or path with everything but letters, digits and ". _ -" escaped;
// SALVAGE.txt has the names as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "json/fields.h"
#include "kernel/recovery/salvage_directory.h"

namespace quire::store {
class Store;
}

namespace quire::kernel {

struct SalvageOptions {
    std::string workspace = {};  // Its path, for the manifest.
    std::string version = {};    // The program's.
    std::int64_t at_ms = 0;
    // A copy of the store that the caller keeps, as SALVAGE.txt names it; without one, a copy is
    // made.
    std::string kept_copy = {};
};

// The outcome, in numbers of documents.
struct Salvaged {
    std::size_t whole = 0;    // Saved as they are.
    std::size_t partial = 0;  // Saved in part: SALVAGE.txt says what is missing.
    std::size_t lost = 0;     // Nothing of them could be read.
    bool has_audit = false;   // The whole audit log was saved.
    bool has_copy = false;

    bool is_whole() const { return partial == 0 && lost == 0 && has_audit; }
    static json::Fields<Salvaged> fields();
};

// Writes all that can be read of the store into `directory`, which it makes; one that is there has
// to be empty. What cannot be read is passed over and listed; texts come before the copy of the
// store. Edits may go on meanwhile: each document is saved as it is when its turn comes. Blocks; any
// thread. O(store).
//
// Errors: conflict "directory_not_empty" {directory}; unavailable "disk_full",
// "directory_not_writable" {directory}; unavailable "store_failed".
Result<Salvaged> salvage(store::Store& store, const std::string& directory,
                         const SalvageOptions& options);
// Salvages into a directory that was made before.
Result<Salvaged> salvage(store::Store& store, SalvageDirectory directory,
                         const SalvageOptions& options);
// Writes the manifest of a store that cannot be opened because of `why`.
Result<Salvaged> salvage_nothing(const SalvageDirectory& directory, const Error& why,
                                 const SalvageOptions& options);

}  // namespace quire::kernel

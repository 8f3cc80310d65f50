// DiskState: the known state of a loaded file on the disk. It is stored as the header of the file's
// document record, in the transaction of the change that made it true.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "base/value.h"
#include "files/form.h"
#include "fs/file_system.h"

namespace quire::files {

struct DiskState {
    fs::Hash hash;    // The hash of the last known bytes.
    fs::Stamp stamp;  // Their stamp; only a cache.
    Form form;
    // The version of the document whose text these bytes are: each peer with the number of its
    // atoms. Not the latest version, which may contain unsaved edits.
    std::map<std::uint64_t, std::int32_t> version;
    bool missing = false;   // The file was found to be missing,
    bool vanished = false;  // and the kernel did not delete it: the next save must say so.
    // A change on the disk and one in the document met on the same words, and nothing was saved
    // since: the document shows its own words there.
    bool conflict = false;

    Bytes encode() const;
    // Errors: corrupt.
    static Result<DiskState> decode(const Bytes& bytes);
};

}  // namespace quire::files

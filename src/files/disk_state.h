// DiskState: what is known of a loaded file on the disk. It is kept as the header of the file's
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
    fs::Hash hash;    // Of the bytes that were last there.
    fs::Stamp stamp;  // Their stamp; only a cache.
    Form form;
    // The version of the document whose text these bytes are: each peer and how many of its atoms
    // it has. Not the latest version: that may hold edits that were never saved.
    std::map<std::uint64_t, std::int32_t> version;
    bool missing = false;   // The file was seen to be gone,
    bool vanished = false;  // and not by the kernel: who saves has to be told.
    // A change on the disk met one of the document's on the same words, and nothing was saved
    // since: the document shows its own words there.
    bool conflict = false;

    Bytes encode() const;
    // Errors: corrupt.
    static Result<DiskState> decode(const Bytes& bytes);
};

}  // namespace quire::files

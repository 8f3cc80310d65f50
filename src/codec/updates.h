// Loro's FastUpdates blobs (mode 4): changes to bytes and back. docs/formats/updates.md is the
// page.
//
// Decoding verifies everything that can be told without a document: envelope, checksum, columns,
// bounds, UTF-8. It allocates at most a constant times the input.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "crdt/ids/change_batch.h"

namespace quire::codec {

// Errors of both: corrupt (what is wrong and at which byte); unsupported for another mode of the
// format. The first appends to a batch, which views the blob then; after an error it is good for
// nothing but clear().
Result<void> read_updates(std::span<const std::uint8_t> blob, crdt::ChangeBatch& out);
Result<std::vector<crdt::Change>> decode_updates(std::span<const std::uint8_t> blob);

// Writes blobs one after another with the same memory.
class UpdatesWriter {
public:
    UpdatesWriter();
    UpdatesWriter(UpdatesWriter&&) noexcept;
    UpdatesWriter& operator=(UpdatesWriter&&) noexcept;
    UpdatesWriter(const UpdatesWriter&) = delete;
    UpdatesWriter& operator=(const UpdatesWriter&) = delete;
    ~UpdatesWriter();

    // Changes in any order; those of one peer that follow each other share a block.
    Bytes write(const crdt::ChangeBatch& batch);

private:
    struct Memory;
    std::unique_ptr<Memory> memory_;
};

Bytes write_updates(const crdt::ChangeBatch& batch);
Bytes encode_updates(std::span<const crdt::Change> changes);

}  // namespace quire::codec

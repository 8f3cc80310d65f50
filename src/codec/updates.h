// Loro's FastUpdates blobs (mode 4): changes to bytes and back. docs/formats/updates.md is the
// page.
//
// Decoding verifies everything that can be told without a document: envelope, checksum, columns,
// bounds, UTF-8. It allocates at most a constant times the input.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "crdt/ids/change_batch.h"

namespace quire::codec {

// The changes of a blob, which the batch views. Errors: corrupt (what is wrong and at which byte);
// unsupported for another mode of the format.
Result<crdt::ChangeBatch> decode_updates(std::span<const std::uint8_t> blob);
// Appends to a batch, which is good for nothing but clear() after an error.
Result<void> read_updates(std::span<const std::uint8_t> blob, crdt::ChangeBatch& out);

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

Bytes encode_updates(const crdt::ChangeBatch& batch);

}  // namespace quire::codec

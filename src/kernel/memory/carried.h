// CarriedBlock: a memory block on its way from one workspace to another, with its properties, its
// content and its history. docs/formats/memory_file.md describes the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "kernel/memory/memory_header.h"
#include "store/store.h"

namespace quire::kernel {

// One block of a memory file.
struct CarriedBlock {
    MemoryHeader header;  // With the label.
    Value value;          // The content, by the block's schema.
    // The history. A block that is created from its value alone has none. Keys are left out.
    std::uint64_t version = 0;
    std::vector<store::UnitRecord> units = {};  // Sorted by version.
    Bytes updates = {};                         // All its changes; empty where it has none.
};

// The block as a line of a memory file, with the digest of its content.
Value to_value(const CarriedBlock& block);
// Reads a line of a memory file. Errors: corrupt, naming the block as far as possible, also for a
// value that does not match its digest. The reader does not check that the history leads to the
// value; the import replays it for that.
Result<CarriedBlock> carried_of(const Value& value);

// Error: corrupt {label}, "the block 'LABEL' is damaged: WHAT". An invalid label is cut and
// cleaned.
Failure damaged(std::string_view label, std::string_view what);

// The SHA-256 of a value's canonical JSON, as 64 hexadecimal digits; equal for equal content.
std::string content_digest(const Value& value);

}  // namespace quire::kernel

// CarriedBlock: a memory block on its way from one workspace to another: what it is, what it reads
// as, and how it came to that. docs/formats/memory_file.md is the page.
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

struct CarriedBlock {
    MemoryHeader header;  // With the label.
    Value value;          // The content, by the block's schema.
    // Its history: none of it for a block that is to be made of its value. Keys are left out.
    std::uint64_t version = 0;
    std::vector<store::UnitRecord> units = {};  // Sorted by version.
    Bytes updates = {};                         // All its changes; empty where it has none.
};

Value to_value(const CarriedBlock& block);
// Errors: corrupt, naming the block as far as it can; for a value that is not the one whose digest
// goes with it, too. That the history leads to the value, and speaks of changes that are there, is
// for whoever replays it.
Result<CarriedBlock> carried_of(const Value& value);

// corrupt {label}: "the block 'LABEL' is damaged: WHAT". A label that is none is cut and cleaned.
Failure damaged(std::string_view label, std::string_view what);

// 64 hexadecimal digits: equal for blocks that read alike.
std::string content_digest(const Value& value);

}  // namespace quire::kernel

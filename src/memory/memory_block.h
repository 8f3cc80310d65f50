// MemoryBlock: what is laid over a document to make it a memory block. The store keeps it beside
// the document; the rules of the memory come from here, never from what a document says.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "memory/block_schema.h"
#include "policy/permission.h"

namespace quire::memory {

struct MemoryBlock {
    std::string label;
    std::string description = {};
    BlockSchema schema = {};
    policy::Permission permission = policy::Permission::read_write;
    // The most code points of one text: a Text's body, or one value of a field, an item, an entry.
    std::optional<std::size_t> char_limit = {};

    friend bool operator==(const MemoryBlock&, const MemoryBlock&) = default;
};

}  // namespace quire::memory

// MemoryBlock: the description that makes a document a memory block. The store keeps it beside the
// document, so the rules of a block never depend on what a document says.
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
    // The most code points of one text: a Text's body, or one value of a field, an item or an
    // entry.
    std::optional<std::size_t> char_limit = {};

    friend bool operator==(const MemoryBlock&, const MemoryBlock&) = default;
};

}  // namespace quire::memory

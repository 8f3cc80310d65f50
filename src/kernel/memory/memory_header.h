// MemoryHeader: all that is known of a memory block beside its content. It is kept, as JSON, in the
// header of the block's document record, in the transaction of the change that made it true; the
// label is the document's name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "base/result.h"
#include "base/value.h"
#include "json/fields.h"
#include "memory/memory_block.h"
#include "policy/rights.h"

namespace quire::kernel {

// core: always in an agent's context; working: where it is pinned; archival: found by searching.
enum class MemoryType { core, working, archival };
constexpr auto words_of(MemoryType) {
    return word_table("core", "working", "archival");
}

struct MemoryHeader {
    memory::MemoryBlock block;
    MemoryType type = MemoryType::working;
    bool pinned = false;
    policy::Actor owner;
    std::vector<policy::Share> shares = {};

    policy::Holding holding() const { return {owner, block.permission, shares}; }

    // Its stored form, in which the label is not.
    static json::Fields<MemoryHeader> fields();
};

Bytes encode(const MemoryHeader& header);
// Errors: corrupt, naming the block and what does not parse, a schema for one. Whoever holds the
// bytes keeps them.
Result<MemoryHeader> decode_memory_header(const std::string& label, const Bytes& bytes);

// Errors: invalid_argument "invalid_label": not 1 to 200 bytes of UTF-8 without control characters.
Result<void> check_label(std::string_view label);

}  // namespace quire::kernel

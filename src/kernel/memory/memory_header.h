// MemoryHeader: the properties of a memory block other than its content. It is kept as JSON in
// the header of the block's document record, and stored in the transaction of the change that
// made it true. The label is the document's name and not part of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "kernel/memory/memory_type.h"
#include "memory/memory_block.h"
#include "policy/rights.h"

namespace quire::json {
template <class T>
class Fields;
}

namespace quire::kernel {

// The schema, permission and description are in `block`.
struct MemoryHeader {
    memory::MemoryBlock block;
    MemoryType type = MemoryType::working;
    bool pinned = false;
    policy::Actor owner;
    std::vector<policy::Share> shares = {};
    // The label that its last move took from it, by which an undo of that move finds it.
    std::string former_label = {};

    policy::Holding holding() const { return {owner, block.permission, shares}; }

    // The stored form, without the label.
    static json::Fields<MemoryHeader> fields();
};

Bytes encode(const MemoryHeader& header);
// Reads a stored header. Errors: corrupt, naming the block and the part that does not parse. The
// caller keeps the bytes, so nothing is lost.
Result<MemoryHeader> decode_memory_header(const std::string& label, const Bytes& bytes);

// Checks that a block may be given the label (docs/memory.md). A label that an earlier program
// stored is not checked again. Errors: invalid_argument "invalid_label": not 1 to 200 bytes of
// UTF-8; a control, direction or line-separating character; the form of a block's id; an actor's or
// a reference's prefix, with which it could be taken for something else.
Result<void> check_label(std::string_view label);

}  // namespace quire::kernel

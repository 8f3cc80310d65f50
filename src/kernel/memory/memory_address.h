// MemoryAddress: how a call names a memory block (docs/memory.md).
//
// Labels belong to their owners, so two agents may each have a `persona`. A call names a block by
// its id, by OWNER/LABEL, or by a plain label, which means, in this order:
//   1. the caller's own block;
//   2. the only block of that label that is shared with the caller or fed by a source;
//   3. for everybody but agents, the only block of that label in the workspace.
// Each may have "memory:" before it, with which no label begins.
// A text of the form of an id is never looked up as a label. A block that the caller may not see is
// refused exactly as one that does not exist.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/core/catalog.h"
#include "policy/actor.h"

namespace quire::kernel {

// The catalog's name for the block of that owner and label.
Name name_of_memory(const policy::Actor& owner, std::string label);

// Returns true if the actor may know of the block. A block whose header does not parse is known to
// its owner and to every actor that is not an agent.
bool may_see_memory(const policy::Actor& by, const store::DocumentRecord& record);

// Error: not_found "invalid_reference" {label}.
Failure no_such_memory(const std::string& label);
// Error: conflict "label_exists" {label}.
Failure label_exists(const std::string& label);

struct MemoryAddress {
    // The blocks that a label may name.
    enum class Among {
        present,
        moved,    // Also by the label that its last move took from it.
        deleted,  // Deleted ones alone.
    };

    std::string text;
    policy::Actor by;
    Among among = Among::present;

    // Errors: no_such_memory(); conflict "ambiguous_label" {candidates: [OWNER/LABEL]}, which are ids
    // where several deleted blocks had the label. O(log blocks + blocks of that label); O(blocks)
    // for a label that a block had, or that only deleted blocks have.
    Result<std::shared_ptr<LiveDocument>> find(Catalog& catalog) const;
    // Returns false if the block was given another label since it was found.
    bool is_meant(const Catalog& catalog, const LiveDocument& document) const;

private:
    MemoryAddress bare() const;  // Without the prefix.
    Result<std::shared_ptr<LiveDocument>> find_present(Catalog& catalog) const;
};

}  // namespace quire::kernel

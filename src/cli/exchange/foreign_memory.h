// The memories of other programs, as blocks to import (kernel/carried.h): Text and Map blocks that
// have a value and no history.
//
//   the memory server of MCP   A line of JSON for each entity and each relation. Every entity
//                              becomes an archival block by its name, which agents find by
//                              searching: a Map of name, entity_type, observations and relations
//                              (those that begin at it). What a relation only names gets a block;
//                              of one that comes twice all is kept ("person, author").
//   agent files of Letta       .af, JSON. Every memory block becomes a core Text block with its
//                              description and its limit, read-only where it is. It belongs to the
//                              first agent that has it and is shared with the others.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/carried.h"

namespace quire::cli {

// `owner` has all of it; without one the agents of a Letta file have theirs. Two blocks that would
// have one label get their agents' names behind it, or a number. Errors: invalid_argument
// "unknown_format" for what is neither; "invalid_file" {line} for a line or a block that is not
// what it should be; "owner_required" where nobody is named.
Result<std::vector<kernel::CarriedBlock>> read_foreign_memory(
    std::string_view text, const std::optional<policy::Actor>& owner);

}  // namespace quire::cli

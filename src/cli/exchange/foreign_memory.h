// The memories of other programs, as blocks to import (kernel/memory/carried.h): Text and Map blocks that
// have a value and no history.
//
//   the memory server of MCP   A line of JSON for each entity and each relation. Every entity
//                              becomes an archival block by its name, which agents find by
//                              searching: a Map of name, entity_type, observations and relations
//                              (those that begin at it). An entity that only a relation names
//                              gets a block too; one that occurs twice is merged ("person,
//                              author").
//   agent files of Letta       .af, JSON. Every memory block becomes a core Text block with its
//                              description and its limit, and stays read-only. It belongs to the
//                              first agent that has it and is shared with the others.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/memory/carried.h"

namespace quire::cli {

// All blocks belong to `owner`; without one, the blocks of a Letta file belong to its agents. If
// two blocks would have the same label, the agent's name or a number is appended. Errors:
// invalid_argument "unknown_format" for any other format; "invalid_file" for a line or a block
// that is malformed; "owner_required" if nobody is named.
Result<std::vector<kernel::CarriedBlock>> read_foreign_memory(
    std::string_view text, const std::optional<policy::Actor>& owner);

}  // namespace quire::cli

// The report of a workspace's sources: `quire sources --json`, and the resource quire://sources.
//
//   {sources: [{source_id, name, description, base, actor, schema, permission_rules: [{pattern,
//     permission}], required_tools: [{tool, operations}], watch, state, running, failed,
//     blocks: [{block_id, path? or label?, owner, permission: the reader's}], more_blocks?}]}
#pragma once

#include <string_view>

#include "base/value.h"
#include "kernel/core/caller.h"

namespace quire::kernel {
class Sources;
}

namespace quire::server {

inline constexpr std::string_view kSourcesUri = "quire://sources";

// Names the blocks that the caller may see, 1,000 of each source at most, and counts the others.
// O(blocks).
Map source_report(const kernel::Sources& sources, const kernel::Caller& by);

}  // namespace quire::server

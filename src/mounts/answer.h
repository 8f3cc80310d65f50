// The answers to calls of mounted tools, made from the server's results. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "base/value.h"
#include "mounts/definition.h"
#include "tools/tool.h"

namespace quire::mounts {

// Turns the server's result object into ours. Text, images, audio, links, embedded resources and
// structured content stay as they came; a block of another type becomes a text that names the type;
// its _meta is dropped. Errors: unavailable "mount_error" {mount, tool} when it is no result, or
// its structured content does not fit its output schema.
Result<tools::ToolResult> answer_of(Value result, const std::string& mount,
                                    const Definition& definition);

}  // namespace quire::mounts

// What a call of a mounted tool is answered with. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "base/value.h"
#include "mounts/definition.h"
#include "tools/tool.h"

namespace quire::mounts {

// The server's result object as ours: text, images, audio, links, embedded resources and structured
// content as they came, a block of another type as a text that says so, and nothing of its _meta.
// Errors: unavailable "mount_error" {mount, tool}: it is no result, or its structured content is
// not what its output schema says.
Result<tools::ToolResult> answer_of(Value result, const std::string& mount,
                                    const Definition& definition);

// A refusal as a result, that says that nothing was changed only where that is known.
tools::ToolResult failed(const Error& error);

}  // namespace quire::mounts

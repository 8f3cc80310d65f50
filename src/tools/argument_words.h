// The words for arguments that several tools take, so that one thing is called alike everywhere. A
// model reads these at every start: each word counts. Words that only one tool has stand with that
// tool.
#pragma once

#include <string_view>

namespace quire::tools {

inline constexpr std::string_view kBlockIdSays = "Id, file:PATH or memory:LABEL.";
inline constexpr std::string_view kPathSays = "From the root.";

}  // namespace quire::tools

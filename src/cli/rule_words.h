// A rule for tools as a sentence for a model's prompt.
#pragma once

#include <string>

#include "cli/config.h"

namespace quire::cli {

// `rule` is as parse_config() gives it.
std::string in_words(const ToolRule& rule);

}  // namespace quire::cli

// Takes: the arguments of one operation, of a tool whose argument says which operation it is.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace quire::tools {

struct Takes {
    std::vector<std::string_view> needed;
    std::vector<std::string_view> more = {};
};

// Whether the arguments that are `given` (each with whether it is there) are those that `word` of
// `selector` ("operation") takes. Errors: invalid_argument "invalid_argument" {missing} or
// {unknown}, with what it takes in the message.
Result<void> check_takes(std::string_view selector, std::string_view word, const Takes& takes,
                         std::span<const std::pair<std::string_view, bool>> given);

}  // namespace quire::tools

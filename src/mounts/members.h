// Members of objects that a stranger wrote.
#pragma once

#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::mounts {

// "" where it is not there, or no string.
inline std::string text_in(const Value& of, std::string_view member) {
    const Value* const value = of.get(member);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

}  // namespace quire::mounts

// Words that many tests use.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace quire {

// The reason of an error; "" where there is none.
template <class T>
std::string reason(const Result<T>& result) {
    return result ? std::string() : result.error().reason();
}

// Returns true if `part` occurs in the text.
inline bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace quire

// A moment as text.
#pragma once

#include <cstdint>
#include <string>

namespace quire::text {

// Milliseconds since 1970 as RFC 3339 in UTC: "2025-01-23T14:32:05.120Z". Times outside of the years
// 0 to 9999 are clamped.
std::string utc_time(std::int64_t ms);

}  // namespace quire::text

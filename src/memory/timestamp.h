// Timestamps as strings: RFC 3339, and the shorter forms that people and models write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quire::memory {

// Milliseconds since 1970 of "2025-01-23T14:32:05Z"; also with a fraction, with an offset
// (+02:00), with a blank for the T, without seconds, without the time, and without an offset, which
// is taken as UTC. None for anything else, and for days and hours that do not exist.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

// "2025-01-23T14:32:05Z". The years 0 to 9999; what lies outside is clamped.
std::string format_timestamp(std::int64_t ms);
// "2025-01-23 14:32", for reading.
std::string format_minute(std::int64_t ms);

}  // namespace quire::memory

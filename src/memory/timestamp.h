// Timestamps as strings: RFC 3339, and the shorter forms that people and models write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quire::memory {

// Milliseconds since 1970 of "2025-01-23T14:32:05Z". Accepts a fraction, an offset (+02:00), a
// blank for the T, a time without seconds, a date alone, and no offset, which means UTC. Nothing
// for any other text, nor for days and hours that do not exist.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

// "2025-01-23T14:32:05Z". Times outside of the years 0 to 9999 are clamped.
std::string format_timestamp(std::int64_t ms);
// "2025-01-23 14:32", for readers.
std::string format_minute(std::int64_t ms);

}  // namespace quire::memory

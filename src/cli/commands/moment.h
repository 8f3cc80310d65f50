// Moments as people type them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::cli {

// The forms, for --help.
inline constexpr std::string_view kMomentForms =
    "90s, 10m, 2h or 3d ago, or a time in RFC 3339";
// Milliseconds since 1970 for "90s", "10m", "2h" or "3d" before `now_ms`, or for a timestamp
// (memory/timestamp.h).
std::optional<std::int64_t> moment_of(std::string_view text, std::int64_t now_ms);
// A time that an answer has, RFC 3339, in milliseconds since 1970; 0 for none. Zero also for a
// member that is no time.
std::int64_t moment_in(const Value& answer, std::string_view member = "timestamp");
// A check for CLI11: "" for a moment, else what is wrong.
std::string check_moment(const std::string& text);

}  // namespace quire::cli

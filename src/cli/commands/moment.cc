#include "cli/commands/moment.h"

#include <charconv>

#include "base/clock.h"
#include "base/concat.h"
#include "json/members.h"
#include "memory/timestamp.h"

namespace quire::cli {

// A span that reaches back before 1970 is refused, and so cannot overflow.
std::optional<std::int64_t> moment_of(std::string_view text, std::int64_t now_ms) {
    std::int64_t count = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view unit(read.ptr, static_cast<std::size_t>(text.end() - read.ptr));
    if (read.ec == std::errc() && count >= 0 && unit.size() == 1) {
        constexpr std::int64_t kDayMs = 86'400'000;
        const std::int64_t ms = unit == "s"   ? 1000
                                : unit == "m" ? 60'000
                                : unit == "h" ? 3'600'000
                                : unit == "d" ? kDayMs
                                              : 0;
        if (ms != 0 && count <= now_ms / ms) return now_ms - count * ms;
    }
    return memory::parse_timestamp(text);
}

std::int64_t moment_in(const Value& answer, std::string_view member) {
    return memory::parse_timestamp(json::text_in(answer, member)).value_or(0);
}

std::string check_moment(const std::string& text) {
    return moment_of(text, SystemClock().wall_ms())
               ? std::string()
               : cat("'", text, "' is neither like 2h nor like 2026-01-31T12:00:00Z");
}

}  // namespace quire::cli

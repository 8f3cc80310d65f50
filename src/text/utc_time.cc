// Days are rounded down, so that moments before 1970 have a time of day that counts up. The
// calendar is std::chrono's; nothing here asks for a time zone or a locale.
#include "text/utc_time.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace quire::text {

std::string utc_time(std::int64_t ms) {
    constexpr std::int64_t kFirst = -62'167'219'200'000;  // 0000-01-01
    constexpr std::int64_t kLast = 253'402'300'799'999;   // 9999-12-31
    using std::chrono::floor;
    const std::chrono::sys_time<std::chrono::milliseconds> at{
        std::chrono::milliseconds(std::clamp(ms, kFirst, kLast))};
    const auto day = floor<std::chrono::days>(at);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(at - day);
    std::array<char, 64> out{};
    std::snprintf(out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()),
                  static_cast<int>(time.subseconds().count()));
    return out.data();
}

}  // namespace quire::text

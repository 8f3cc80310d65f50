// Times are read by hand, because the library that g++ 12 has reads no time zones: date, then
// optionally a time, its fraction and an offset, each checked as it is read, so that a text is either
// one time or none. All arithmetic is in milliseconds since 1970 on the proleptic Gregorian calendar
// of <chrono>; years go from 0 to 9999, and what lies beyond is shown as the nearest of them.
#include "memory/timestamp.h"

#include <algorithm>
#include <chrono>

namespace quire::memory {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kFirst = -62'167'219'200'000;  // 0000-01-01
constexpr std::int64_t kLast = 253'402'300'799'999;   // 9999-12-31

// The rest of a text that is being read.
class Scan {
public:
    explicit Scan(std::string_view text) : left_(text) {}

    bool take(std::string_view any_of) {
        if (left_.empty() || any_of.find(left_.front()) == std::string_view::npos) return false;
        left_.remove_prefix(1);
        return true;
    }
    // Reads exactly `digits` digits with a value of at most `max`.
    std::optional<int> number(std::size_t digits, int max) {
        if (left_.size() < digits) return std::nullopt;
        int value = 0;
        for (const char c : left_.substr(0, digits)) {
            if (c < '0' || c > '9') return std::nullopt;
            value = value * 10 + (c - '0');
        }
        left_.remove_prefix(digits);
        return value <= max ? std::optional(value) : std::nullopt;
    }
    bool done() const { return left_.empty(); }
    bool at(std::string_view any_of) const {
        return !left_.empty() && any_of.find(left_.front()) != std::string_view::npos;
    }

private:
    std::string_view left_;
};

// Checks that the day exists in its month.
std::optional<std::int64_t> date(Scan& in) {
    const auto year = in.number(4, 9999);
    if (!year || !in.take("-")) return std::nullopt;
    const auto month = in.number(2, 12);
    if (!month || !in.take("-")) return std::nullopt;
    const auto day = in.number(2, 31);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day ymd{std::chrono::year(*year),
                                          std::chrono::month(static_cast<unsigned>(*month)),
                                          std::chrono::day(static_cast<unsigned>(*day))};
    if (!ymd.ok()) return std::nullopt;
    return std::chrono::sys_days(ymd).time_since_epoch().count() * kDay;
}

// A leap second is accepted and counts as the first second of the next minute.
std::optional<std::int64_t> seconds(Scan& in) {
    const auto whole = in.number(2, 60);  // 60: a leap second.
    if (!whole) return std::nullopt;
    std::int64_t ms = *whole * kSecond;
    if (!in.take(".")) return ms;
    std::int64_t unit = kSecond / 10;
    if (!in.at("0123456789")) return std::nullopt;
    while (in.at("0123456789")) {
        ms += *in.number(1, 9) * unit;
        unit /= 10;
    }
    return ms;
}

std::optional<std::int64_t> time_of_day(Scan& in) {
    const auto hour = in.number(2, 23);
    if (!hour || !in.take(":")) return std::nullopt;
    const auto minute = in.number(2, 59);
    if (!minute) return std::nullopt;
    const std::int64_t ms = *hour * kHour + *minute * kMinute;
    if (!in.take(":")) return ms;
    const auto rest = seconds(in);
    if (!rest) return std::nullopt;
    return ms + *rest;
}

// The offset from UTC in milliseconds.
std::optional<std::int64_t> offset(Scan& in) {
    if (in.done() || in.take("Zz")) return 0;
    const std::int64_t sign = in.at("-") ? -1 : 1;
    if (!in.take("+-")) return std::nullopt;
    const auto hour = in.number(2, 23);
    if (!hour || !in.take(":")) return std::nullopt;
    const auto minute = in.number(2, 59);
    if (!minute) return std::nullopt;
    return sign * (*hour * kHour + *minute * kMinute);
}

void put(std::string& out, std::int64_t number, std::size_t digits) {
    std::string text = std::to_string(number);
    out.append(digits - std::min(digits, text.size()), '0').append(text);
}

}  // namespace

// Every part but the date is optional.
std::optional<std::int64_t> parse_timestamp(std::string_view text) {
    Scan in(text);
    const auto day = date(in);
    if (!day) return std::nullopt;
    if (in.done()) return day;
    if (!in.take("Tt ")) return std::nullopt;
    const auto time = time_of_day(in);
    if (!time) return std::nullopt;
    const auto ahead = offset(in);
    if (!ahead || !in.done()) return std::nullopt;
    return *day + *time - *ahead;
}

// The calendar is computed, not looked up, so the time zone of the machine does not matter.
std::string format_minute(std::int64_t ms) {
    ms = std::clamp(ms, kFirst, kLast);
    const auto days = std::chrono::floor<std::chrono::days>(std::chrono::milliseconds(ms));
    const std::chrono::year_month_day ymd{std::chrono::sys_days(days)};
    const std::int64_t of_day = ms - days.count() * kDay;
    std::string out;
    put(out, static_cast<int>(ymd.year()), 4);
    out += '-';
    put(out, static_cast<unsigned>(ymd.month()), 2);
    out += '-';
    put(out, static_cast<unsigned>(ymd.day()), 2);
    out += ' ';
    put(out, of_day / kHour, 2);
    out += ':';
    put(out, of_day % kHour / kMinute, 2);
    return out;
}

std::string format_timestamp(std::int64_t ms) {
    ms = std::clamp(ms, kFirst, kLast);
    std::string out = format_minute(ms);
    out[10] = 'T';
    out += ':';
    put(out, ((ms % kMinute) + kMinute) % kMinute / kSecond, 2);
    out += 'Z';
    return out;
}

}  // namespace quire::memory

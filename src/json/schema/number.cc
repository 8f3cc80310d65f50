// A double and a 64-bit integer cannot be compared by converting either: both conversions round.
// compare_mixed() splits the double into its whole part, which fits an integer if it is in range at
// all, and its fraction. is_multiple() works on decimals, digits · 10^exponent, because 0.0075 and
// 0.0001 have no common unit in binary. Hashing turns a whole float into the integer first, so 1
// and 1.0 have one hash.

#include "json/schema/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>
#include <string_view>

#include "json/schema/node.h"

namespace quire::json::detail {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr double kTwoTo63 = 9223372036854775808.0;

// Compares with the whole part of the double, then with its fraction.
std::partial_ordering compare_mixed(std::int64_t whole, double number) {
    if (std::isnan(number)) return std::partial_ordering::unordered;
    if (number >= kTwoTo63) return std::partial_ordering::less;
    if (number < -kTwoTo63) return std::partial_ordering::greater;
    const double trunk = std::trunc(number);
    const auto floor = static_cast<std::int64_t>(trunk);
    if (whole != floor) return whole <=> floor;
    return trunk <=> number;
}

// A number as digits · 10^exponent, without its sign.
struct Decimal {
    std::uint64_t digits = 0;
    int exponent = 0;
};

// The shortest decimal that reads back, by the standard library.
Decimal decimal_of(const Value& value) {
    if (value.is_int()) {
        const auto bits = static_cast<std::uint64_t>(value.as_int());
        return {value.as_int() < 0 ? 0 - bits : bits, 0};
    }
    // The form "d.ddddde±xx" with the fewest digits that read back, at most 17.
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, std::fabs(value.as_float()),
                                   std::chars_format::scientific)
                         .ptr;
    Decimal decimal;
    const char* at = text;
    bool after_point = false;
    for (; at != end && *at != 'e'; ++at) {
        if (*at == '.') {
            after_point = true;
            continue;
        }
        decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(*at - '0');
        if (after_point) --decimal.exponent;
    }
    ++at;
    if (at < end && *at == '+') ++at;
    int power = 0;
    std::from_chars(at, end, power);
    decimal.exponent += power;
    return decimal;
}

std::uint64_t power_of_ten_mod(int power, std::uint64_t modulus) {
    Wide result = 1 % modulus;
    Wide base = 10 % modulus;
    for (; power > 0; power /= 2) {
        if (power % 2 != 0) result = result * base % modulus;
        base = base * base % modulus;
    }
    return static_cast<std::uint64_t>(result);
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
    std::uint64_t x = seed ^ (value + 0x9E3779B97F4A7C15U + (seed << 6) + (seed >> 2));
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

// A whole float hashes like the equal integer.
std::uint64_t hash_number(const Value& value) {
    if (value.is_int()) return static_cast<std::uint64_t>(value.as_int());
    const double number = value.as_float();
    if (std::trunc(number) == number && number >= -kTwoTo63 && number < kTwoTo63) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

// Objects are equal if they have the same members in any order.
bool same_members(const Map& a, const Map& b, Check& check) {
    if (a.size() != b.size()) return false;
    // The cost of find() for each member.
    if (!check.spend(a.size() * (1 + a.size() / 16))) return false;
    return std::ranges::all_of(a, [&](const Map::Entry& entry) {
        const Value* other = b.find(entry.key);
        return other != nullptr && same(entry.value, *other, check);
    });
}

}  // namespace

std::partial_ordering compare_numbers(const Value& a, const Value& b) {
    if (a.is_int() && b.is_int()) return a.as_int() <=> b.as_int();
    if (a.is_float() && b.is_float()) return a.as_float() <=> b.as_float();
    if (a.is_int()) return compare_mixed(a.as_int(), b.as_float());
    return 0 <=> compare_mixed(b.as_int(), a.as_float());
}

// Integers are divided directly; other numbers are compared as decimals.
bool is_multiple(const Value& number, const Value& unit) {
    if (number.is_int() && unit.is_int()) {
        // Dividing the least integer by -1 would overflow; every integer is a multiple of 1 and -1.
        return unit.as_int() == 1 || number.as_int() % unit.as_int() == 0;
    }
    if (number.is_float() && !std::isfinite(number.as_float())) return false;
    const Decimal a = decimal_of(number);
    const Decimal b = decimal_of(unit);
    if (a.digits == 0) return true;
    const int shift = a.exponent - b.exponent;
    if (shift >= 0) {
        const Wide rest = Wide{a.digits % b.digits} * power_of_ten_mod(shift, b.digits);
        return rest % b.digits == 0;
    }
    // a.digits / (b.digits · 10^-shift); no a.digits has 20 digits.
    constexpr int kMostDigits = 19;
    if (-shift > kMostDigits) return false;
    Wide divisor = b.digits;
    for (int i = 0; i < -shift; ++i) divisor *= 10;
    return a.digits % divisor == 0;
}

// Values of different types are equal only if both are numbers.
bool same(const Value& a, const Value& b, Check& check) {
    if (!check.spend(1)) return false;
    if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
    if (a.is_string() && b.is_string()) {
        const std::string& left = a.as_string();
        const std::string& right = b.as_string();
        return left.size() == right.size() && check.spend(left.size() / 256) && left == right;
    }
    if (a.is_list() && b.is_list()) {
        return std::equal(a.as_list().begin(), a.as_list().end(), b.as_list().begin(),
                          b.as_list().end(),
                          [&](const Value& x, const Value& y) { return same(x, y, check); });
    }
    if (a.is_map() && b.is_map()) return same_members(a.as_map(), b.as_map(), check);
    return a == b;
}

// The members of an object are added up, so that their order does not matter.
std::uint64_t hash_of(const Value& value, Check& check) {
    if (!check.spend(1)) return 0;
    const auto kind = static_cast<std::uint64_t>(types_of(value) & ~kInteger);
    if (value.is_number()) return mixed(kNumber, hash_number(value));
    if (value.is_string()) {
        check.spend(value.as_string().size() / 256);
        return mixed(kind, std::hash<std::string_view>()(value.as_string()));
    }
    if (value.is_bool()) return mixed(kind, value.as_bool() ? 1 : 0);
    if (value.is_list()) {
        std::uint64_t hash = kind;
        for (const Value& item : value.as_list()) hash = mixed(hash, hash_of(item, check));
        return hash;
    }
    if (value.is_map()) {
        std::uint64_t sum = 0;  // A sum, so that order does not matter.
        for (const Map::Entry& entry : value.as_map()) {
            sum += mixed(std::hash<std::string_view>()(entry.key), hash_of(entry.value, check));
        }
        return mixed(kind, sum);
    }
    return kind;
}

}  // namespace quire::json::detail

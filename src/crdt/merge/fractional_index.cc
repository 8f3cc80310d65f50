// Every position ends with 80. Between two positions the byte in which they first differ decides:
// with room it is halved, without the lower one is extended. What the scheme gives is compared with
// its bounds, because peers may have positions of other schemes; if it does not lie between them,
// squeezed() looks for any byte string that does.
#include "crdt/merge/fractional_index.h"

#include <algorithm>

namespace quire::crdt {

namespace {

constexpr std::uint8_t kEnd = 0x80;
constexpr std::uint8_t kMax = 0xFF;

// With the end byte in the middle there is room before and behind every position.
Bytes closed(PositionView bytes) {
    Bytes out(bytes.begin(), bytes.end());
    out.push_back(kEnd);
    return out;
}

// A position after `lower`, which begins with `prefix`, and below any that extends the prefix
// further.
Bytes after(PositionView prefix, PositionView lower) {
    Bytes out(prefix.begin(), prefix.end());
    for (const std::uint8_t byte : lower) {
        if (byte < kEnd) break;
        if (byte < kMax) {
            out.push_back(byte + 1);
            break;
        }
        out.push_back(byte);
    }
    return closed(out);
}

// A position before `upper`, which begins with `prefix`.
Bytes before(PositionView prefix, PositionView upper) {
    Bytes out(prefix.begin(), prefix.end());
    for (const std::uint8_t byte : upper) {
        if (byte > kEnd) break;
        if (byte > 0) {
            out.push_back(byte - 1);
            break;
        }
        out.push_back(byte);
    }
    return closed(out);
}

// A position between two that follow this scheme.
std::optional<Bytes> halfway(PositionView lower, PositionView upper) {
    if (lower.empty() || upper.empty()) return std::nullopt;
    const std::size_t common = std::min(lower.size(), upper.size()) - 1;
    for (std::size_t i = 0; i < common; ++i) {
        if (lower[i] == upper[i]) continue;
        if (upper[i] - lower[i] == 1) return after(lower.first(i + 1), lower.subspan(i + 1));
        Bytes out(lower.begin(), lower.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        out.back() = static_cast<std::uint8_t>(lower[i] + (upper[i] - lower[i]) / 2);
        return closed(out);
    }
    if (lower.size() < upper.size())
        return before(upper.first(common + 1), upper.subspan(common + 1));
    if (lower.size() > upper.size())
        return after(lower.first(common + 1), lower.subspan(common + 1));
    return std::nullopt;
}

bool is_less(PositionView a, PositionView b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

bool is_between(const Bytes& position, PositionView lower, std::optional<PositionView> upper) {
    return is_less(lower, position) && (!upper || is_less(position, *upper));
}

// A position between any two byte strings, if there is one: an extension of `lower` if possible,
// else a decrease of what follows it in `upper`.
// If `lower` is no prefix of `upper`, any extension of it stays below `upper`. If it is, the rest
// of `upper` has to be undercut: by fewer zeros if it is all zeros, else by a smaller first byte
// that is not zero. A single zero has nothing below it but `lower` itself.
std::optional<Bytes> squeezed(PositionView lower, PositionView upper) {
    const bool is_prefix =
        lower.size() <= upper.size() && std::equal(lower.begin(), lower.end(), upper.begin());
    if (!is_prefix) return closed(lower);
    const PositionView rest = upper.subspan(lower.size());
    const auto zeros = static_cast<std::size_t>(
        std::find_if(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte > 0; }) -
        rest.begin());
    Bytes out(lower.begin(), lower.end());
    if (zeros == rest.size()) {
        if (zeros < 2) return std::nullopt;
        out.resize(out.size() + zeros - 1);
        return out;
    }
    out.resize(out.size() + zeros);
    out.push_back(rest[zeros] - 1);
    return closed(out);
}

}  // namespace

// Without an upper bound something always fits, at worst an extension of `lower`.
std::optional<Bytes> position_between(std::optional<PositionView> lower,
                                      std::optional<PositionView> upper) {
    if (!upper) {
        if (!lower) return Bytes{kEnd};
        Bytes found = after({}, *lower);
        return is_between(found, *lower, upper) ? std::move(found) : closed(*lower);
    }
    const PositionView floor = lower.value_or(PositionView{});
    std::optional<Bytes> found = lower ? halfway(*lower, *upper) : before({}, *upper);
    if (found && is_between(*found, floor, upper)) return found;
    return squeezed(floor, *upper);
}

// The middle one first, then each half, so that positions stay short.
std::optional<std::vector<Bytes>> positions_between(std::optional<PositionView> lower,
                                                    std::optional<PositionView> upper,
                                                    std::size_t count) {
    std::vector<Bytes> out(count);
    struct Gap {
        std::size_t begin;
        std::size_t end;
    };
    std::vector<Gap> gaps{{0, count}};
    while (!gaps.empty()) {
        const Gap gap = gaps.back();
        gaps.pop_back();
        if (gap.begin == gap.end) continue;
        const std::size_t middle = gap.begin + (gap.end - gap.begin) / 2;
        const auto left = gap.begin == 0 ? lower : std::optional<PositionView>(out[gap.begin - 1]);
        const auto right = gap.end == count ? upper : std::optional<PositionView>(out[gap.end]);
        std::optional<Bytes> found = position_between(left, right);
        if (!found) return std::nullopt;
        out[middle] = std::move(*found);
        gaps.push_back({gap.begin, middle});
        gaps.push_back({middle + 1, gap.end});
    }
    return out;
}

}  // namespace quire::crdt

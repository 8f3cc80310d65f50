#include "policy/call_digest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/cat.h"
#include "json/json.h"

namespace quire::policy {
namespace {

constexpr std::size_t kBlock = 64;
using State = std::array<std::uint32_t, 8>;

// FIPS 180-4, 5.3.3: of the square roots of the first eight primes.
constexpr State kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
// 4.2.2: of the cube roots of the first sixty-four.
constexpr std::array<std::uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i)
        word = (word << 8U) | static_cast<unsigned char>(bytes[at + i]);
    return word;
}

// 6.2.2.
void take_in(State& state, std::string_view block) {
    std::array<std::uint32_t, 64> w = {};
    for (std::size_t i = 0; i < 16; ++i) w[i] = word_at(block, 4 * i);
    for (std::size_t i = 16; i < w.size(); ++i) {
        const std::uint32_t early = w[i - 15];
        const std::uint32_t late = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ (early >> 3U)) +
               (std::rotr(late, 17) ^ std::rotr(late, 19) ^ (late >> 10U));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                    ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
        const std::uint32_t second =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const State worked = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += worked[i];
}

// With the members of every object by their names.
Value ordered(const Value& value) {
    if (value.is_list()) {
        List out;
        for (const Value& each : value.as_list()) out.push_back(ordered(each));
        return out;
    }
    if (!value.is_map()) return value;
    std::vector<const Map::Entry*> entries;
    for (const Map::Entry& each : value.as_map()) entries.push_back(&each);
    std::sort(entries.begin(), entries.end(),
              [](const auto* a, const auto* b) { return a->key < b->key; });
    Map out;
    for (const Map::Entry* each : entries) out.append(each->key, ordered(each->value));
    return out;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
    State state = kStart;
    std::size_t at = 0;
    for (; bytes.size() - at >= kBlock; at += kBlock) take_in(state, bytes.substr(at, kBlock));
    // 5.1.1: a one, zeros, and the length in bits.
    std::string end(bytes.substr(at));
    end.push_back('\x80');
    while (end.size() % kBlock != kBlock - 8) end.push_back('\0');
    const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
    for (int shift = 56; shift >= 0; shift -= 8) end.push_back(static_cast<char>(bits >> shift));
    for (at = 0; at < end.size(); at += kBlock)
        take_in(state, std::string_view(end).substr(at, kBlock));

    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    for (const std::uint32_t word : state) {
        for (int shift = 28; shift >= 0; shift -= 4) out.push_back(kHex[(word >> shift) & 15U]);
    }
    return out;
}

std::string call_digest(std::string_view profile, std::string_view tool, const Value& arguments) {
    // Neither name has a blank, so that no two calls are written alike.
    return sha256_hex(cat(profile, " ", tool, " ", json::write(ordered(arguments))));
}

}  // namespace quire::policy

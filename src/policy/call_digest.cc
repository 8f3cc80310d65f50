#include "policy/call_digest.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <sha2.h>

#include "base/check.h"
#include "base/concat.h"
#include "json/json.h"

namespace quire::policy {
namespace {

// A copy of `value` in which the members of every object are sorted by name.
Value ordered(const Value& value) {
    if (value.is_list()) {
        List out;
        for (const Value& each : value.as_list()) out.push_back(ordered(each));
        return out;
    }
    if (!value.is_map()) return value;
    std::vector<const Map::Entry*> entries;
    for (const Map::Entry& each : value.as_map()) entries.push_back(&each);
    std::ranges::sort(entries, [](const auto* a, const auto* b) { return a->key < b->key; });
    Map out;
    for (const Map::Entry* each : entries) out.append(each->key, ordered(each->value));
    return out;
}

// The digest as bytes rather than digits, for the outer round of HMAC.
std::string sha256_bytes(std::string_view bytes) {
    SHA2_CTX state = {};
    ::SHA256Init(&state);
    ::SHA256Update(&state, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest = {};
    ::SHA256Final(digest.data(), &state);
    return {digest.begin(), digest.end()};
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> digits = {};
    CHECK(::SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
                       digits.data()) != nullptr);
    return digits.data();
}

// RFC 2104: the key, padded to a block, is mixed into both an inner and an outer hash.
std::string hmac_sha256_hex(std::string_view key, std::string_view bytes) {
    std::string inner(SHA256_BLOCK_LENGTH, '\x36');
    std::string outer(SHA256_BLOCK_LENGTH, '\x5c');
    const std::string hashed = key.size() > inner.size() ? sha256_bytes(key) : std::string(key);
    for (std::size_t at = 0; at < hashed.size(); ++at) {
        inner[at] = static_cast<char>(inner[at] ^ hashed[at]);
        outer[at] = static_cast<char>(outer[at] ^ hashed[at]);
    }
    return sha256_hex(outer + sha256_bytes(inner += bytes));
}

std::string value_digest(const Value& value) {
    return sha256_hex(canonical(value));
}

std::string canonical(const Value& value) {
    return json::write(ordered(value));
}

std::string call_digest(std::string_view profile, std::string_view tool, const Value& arguments) {
    return canonical_call_digest(profile, tool, canonical(arguments));
}

std::string canonical_call_digest(std::string_view profile, std::string_view tool,
                                  std::string_view canonical_arguments) {
    // Neither name contains a blank, so two different calls never produce the same text.
    return sha256_hex(cat(profile, " ", tool, " ", canonical_arguments));
}

}  // namespace quire::policy

// The digest of a call: two calls have the same digest only if they say the same.
//
// An approval is for one call, and an agent might try to pass another call off as the approved one.
// So the digest is SHA-256 (FIPS 180-4), for which nobody can find two matching texts. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::policy {

// 64 hexadecimal digits. The order of an object's members does not matter; everything else does.
// O(size).
std::string call_digest(std::string_view profile, std::string_view tool, const Value& arguments);

// The two steps of call_digest(), for callers that need the text as well: the value as JSON without
// blanks and with every object's members sorted by name; then the digest of a call with that text.
std::string canonical(const Value& value);
std::string canonical_call_digest(std::string_view profile, std::string_view tool,
                                  std::string_view canonical_arguments);

// SHA-256 of `bytes` as 64 hexadecimal digits.
std::string sha256_hex(std::string_view bytes);
// HMAC-SHA-256 (RFC 2104) of `bytes` as 64 digits; nobody can compute them without the key.
std::string hmac_sha256_hex(std::string_view key, std::string_view bytes);
// The digest of a value. The order of an object's members does not matter. O(size).
std::string value_digest(const Value& value);

}  // namespace quire::policy

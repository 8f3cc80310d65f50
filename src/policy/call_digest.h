// The digest of a call: two calls have the same one only if they say the same.
//
// An approval is for one call, and whoever asks for it may want another one to pass in its stead:
// so it is SHA-256 (FIPS 180-4), which nobody finds two texts for. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::policy {

// 64 hexadecimal digits. The order of an object's members does not matter; all else does. O(size).
std::string call_digest(std::string_view profile, std::string_view tool, const Value& arguments);

// The same in two steps, for who needs the text as well: the value as JSON with no blanks and every
// object's members by their names; and the digest of the call with such a text.
std::string canonical(const Value& value);
std::string canonical_call_digest(std::string_view profile, std::string_view tool,
                                  std::string_view canonical_arguments);

// Of these bytes.
std::string sha256_hex(std::string_view bytes);
// HMAC-SHA-256 (RFC 2104) of these bytes: 64 digits that nobody finds without the key.
std::string hmac_sha256_hex(std::string_view key, std::string_view bytes);
// Of a value, whatever the order of its objects' members. O(size).
std::string value_digest(const Value& value);

}  // namespace quire::policy

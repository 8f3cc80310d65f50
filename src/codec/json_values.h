// What updates as JSON and the payloads inside them share.
#pragma once

#include <cstdint>
#include <optional>

#include "base/value.h"

namespace quire::codec {

// The value with what JSON cannot say replaced: bytes by an array of numbers, NaN and the
// infinities by null.
Value plain_json(const Value& value);
Value json_bytes(const Bytes& bytes);
// None for anything but an array of numbers from 0 to 255.
std::optional<Bytes> bytes_from_json(const Value& value);

}  // namespace quire::codec

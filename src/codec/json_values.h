// The parts that JSON updates and the payloads inside them share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/value.h"
#include "crdt/ids/ids.h"

namespace quire::codec {

inline constexpr std::int64_t kJsonSchemaVersion = 1;
// Before the id of a container that stands among values.
inline constexpr std::string_view kContainerMark = "\U0001F99C:";

// The value with what JSON cannot say replaced: bytes by an array of numbers, NaN and the
// infinities by null.
Value plain_json(const Value& value);
Value json_bytes(const Bytes& bytes);
// The container that a string names; none for any other, even where it begins like one.
std::optional<crdt::ContainerId> container_reference(const Value& value);
// Returns none for anything but an array of numbers from 0 to 255.
std::optional<Bytes> bytes_from_json(const Value& value);

}  // namespace quire::codec

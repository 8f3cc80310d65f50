// Fractional indexes: positions among siblings as bytes that compare in sibling order.
//
// The scheme is Loro's: a position ends with 0x80; the first of all is 80, the next 8180, the one
// before 7F80, between the first two 817F80. Other peers may use any bytes, between which there may
// be no room.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/value.h"

namespace quire::crdt {

using PositionView = std::span<const std::uint8_t>;

// A position between two; an absent one means an open end. Nothing if there is no room; before an
// open end there is always room. Requires lower < upper.
std::optional<Bytes> position_between(std::optional<PositionView> lower,
                                      std::optional<PositionView> upper);

// `count` ascending positions between two; the middle one is taken first.
std::optional<std::vector<Bytes>> positions_between(std::optional<PositionView> lower,
                                                    std::optional<PositionView> upper,
                                                    std::size_t count);

}  // namespace quire::crdt

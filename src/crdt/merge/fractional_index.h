// Fractional indexes: positions among siblings, as bytes that compare like the siblings' order.
//
// The scheme is Loro's: a position ends with 0x80; the first of all is 80, the one after it 8180,
// before it 7F80, between the two 817F80. Others may use any bytes whatever, between which there
// may be no room left.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/value.h"

namespace quire::crdt {

using PositionView = std::span<const std::uint8_t>;

// A position between two, none being open. None when there is no room; between a position and an
// open end behind it there always is. Requires lower < upper.
std::optional<Bytes> position_between(std::optional<PositionView> lower,
                                      std::optional<PositionView> upper);

// `count` ascending positions between two, the middle one taken first.
std::optional<std::vector<Bytes>> positions_between(std::optional<PositionView> lower,
                                                    std::optional<PositionView> upper,
                                                    std::size_t count);

}  // namespace quire::crdt

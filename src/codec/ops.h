// Ops as rows of a block: four columns, and payloads in a stream of their own.
//
//   ops section            uleb 1, uleb 4 (one field, four columns), then sized columns:
//     container            DeltaRle  index into the containers
//     prop                 DeltaRle  position, key index, or what an unknown op says
//     payload kind         Rle byte  bit 7 does not count for kinds up to 16
//     atoms                Rle       how many atoms the op takes
//
//   op                     prop      kind  payload
//   text insert            position     5  uleb size, UTF-8
//   list insert            position    11  tagged list (values.h)
//   delete                 position     9  none; a row of the delete section
//   style start            position    12  byte info, uleb length, uleb key index, tagged value
//   style end                     0     0  none
//   move in movable list         to    14  uleb from, uleb peer index, uleb lamport of the element
//   set in movable list           0    15  uleb peer index, uleb lamport of it, tagged value
//   map set                key index   11  tagged value
//   map erase              key index    8  none
//   tree create, move             0    16  uleb peer index, uleb counter of the node,
//                                          uleb position index, byte 1 for a root, else byte 0 and
//                                          uleb peer index, uleb counter of the parent
//   tree erase                    0    16  a move below u64 max @ i32 max, position index 0
//   counter add                   0     3  sleb    (a whole number)
//                                       4  f64, most significant byte first
//   unknown                  any i32  any  payload.h
//
//   delete section         nothing without deletes, else uleb 1, uleb 3, then sized columns:
//     peer                 DeltaRle  index
//     counter              DeltaRle  of the smallest id deleted
//     length               DeltaRle  signed; negative for a run of backspaces
#pragma once

#include <cstdint>
#include <limits>

#include "crdt/ids/ids.h"

namespace quire::codec {

inline constexpr std::uint64_t kOpColumns = 4;
inline constexpr std::uint64_t kDeleteColumns = 3;
// Positions and lengths end here, as in Loro.
inline constexpr std::int64_t kMaxPosition = (std::int64_t{1} << 30) - 3;
// The node below which deleted nodes are moved.
inline constexpr crdt::OpId kDeletedRoot{std::numeric_limits<crdt::PeerId>::max(),
                                         std::numeric_limits<crdt::Counter>::max()};

}  // namespace quire::codec

// The memory of this process.
//
// The allocator keeps freed memory for later use. A kernel that once loaded a large document would
// stay that large in the eyes of the system, although it needs little now.
#pragma once

#include <cstddef>

namespace quire {

// The bytes of the process that are in physical memory; 0 where the system does not tell. Some 10 us.
std::size_t resident_size();
// From now on memory that was freed in pieces of a mebibyte or more goes back to the system at once. To
// be called once, before other threads begin.
void give_back_large_pieces();
// Gives memory that was freed back to the system: after work that took much more than what stays. Some
// milliseconds.
void give_back_memory();

}  // namespace quire

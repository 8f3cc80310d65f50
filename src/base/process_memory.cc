// The allocator is glibc's, which keeps freed memory in its heap. These calls tell it when to
// return memory to the system.
#include "base/process_memory.h"

#include <fstream>

#include <malloc.h>
#include <unistd.h>

namespace quire {

// The second number of statm is in pages.
std::size_t resident_size() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, resident = 0;
    file >> all >> resident;
    return file ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// Large pieces are mapped one by one, and unmapped when they are freed. Setting either threshold
// also keeps glibc from moving them by itself.
void give_back_large_pieces() {
    constexpr int kLarge = 1 << 20;
    ::mallopt(M_MMAP_THRESHOLD, kLarge);
    ::mallopt(M_TRIM_THRESHOLD, 2 * kLarge);
}

void give_back_memory() {
    ::malloc_trim(0);
}

}  // namespace quire

#include "base/process_memory.h"

#include <fstream>

#include <malloc.h>
#include <unistd.h>

namespace quire {

std::size_t resident_size() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, resident = 0;
    file >> all >> resident;
    return file ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void give_back_large_pieces() {
    constexpr int kLarge = 1 << 20;
    ::mallopt(M_MMAP_THRESHOLD, kLarge);
    ::mallopt(M_TRIM_THRESHOLD, 2 * kLarge);
}

void give_back_memory() {
    ::malloc_trim(0);
}

}  // namespace quire

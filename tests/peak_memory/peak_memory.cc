#include "tests/peak_memory/peak_memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace {

// These count for the whole process, as operator new works for all of it.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<std::size_t> allocated{0};
std::atomic<std::size_t> peak{0};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void* counted(std::size_t size) {
    void* memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    const std::size_t now = allocated += malloc_usable_size(memory);
    if (now > peak) peak = now;
    return memory;
}

void uncounted(void* memory) noexcept {
    if (memory != nullptr) allocated -= malloc_usable_size(memory);
    std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
    return counted(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return counted(size);
}
void operator delete(void* memory) noexcept {
    uncounted(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    uncounted(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    uncounted(memory);
}

namespace quire::tests {

PeakMemory::PeakMemory() : before_(allocated) {
    peak = before_;
}
std::size_t PeakMemory::bytes() const {
    return peak - before_;
}

}  // namespace quire::tests

// The file that carries an agent's memory: lines of JSON, a block each, closed by their SHA-256.
// docs/formats/memory_file.md is the page. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"

namespace quire::cli {

inline constexpr std::int64_t kMemoryFileFormat = 1;

struct MemoryFile {
    std::string owner;        // "agent:ada".
    std::string exported_at;  // RFC 3339.
    std::string program;      // Its version.
    List blocks;              // In the form of kernel/memory/carried.h.
};

// The line of a block, counted from 1, by the index of the block: the first block is on line 2.
constexpr std::size_t line_of_block(std::size_t index) {
    return index + 2;
}

std::string write_memory_file(const MemoryFile& file);

// Returns true if the text begins like a memory file.
bool is_memory_file(std::string_view text);
// Errors: unsupported "newer_file" {format}; corrupt "corrupt" if the text is cut off or differs
// from what was written by a byte. O(size).
Result<MemoryFile> read_memory_file(std::string_view text);

}  // namespace quire::cli

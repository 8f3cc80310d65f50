// A memory block as plain lines, complete: the text that a diff compares and a search reads.
//
//   Text        the text
//   Map         name: value, for each field that has a value; "- item" lines below a List
//   List        - item, as render() shows it
//   Log         one line per entry, oldest first
//   Composite   === name ===, then the section
//
// Unlike render() this is not meant as a model's context: nothing is left out, numbered or escaped,
// so a line stays the same as long as its content does.
#pragma once

#include <cstddef>
#include <string>

#include "memory/memory_reader.h"

namespace quire::memory {

// About `bytes` bytes at most, cut at the end of a character; of a Log the newest entries.
// O(output).
std::string plain_text(const MemoryReader& reader, std::size_t bytes = SIZE_MAX);

}  // namespace quire::memory

// A memory block as plain lines, all of it: what a diff compares and a search looks through.
//
//   Text        as it is
//   Map         name: value, one for each field that reads as something; "- item" lines below a
//   List List        - item, and what render() shows of one Log         a line an entry, oldest
//   first Composite   === name ===, then the section
//
// Unlike what render() makes it is not for a model to read as its context: nothing is left out,
// numbered or escaped, so that a line stays the same as long as what it says does.
#pragma once

#include <cstddef>
#include <string>

#include "memory/memory_reader.h"

namespace quire::memory {

// At most about `bytes` of it, cut at the end of a character; of a Log those that are newest.
// O(what is given).
std::string plain_text(const MemoryReader& reader, std::size_t bytes = SIZE_MAX);

}  // namespace quire::memory

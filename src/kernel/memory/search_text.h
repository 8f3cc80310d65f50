// A memory block's text for searches, as the store's index keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "crdt/doc/doc.h"
#include "kernel/memory/memory_header.h"
#include "store/store.h"

namespace quire::kernel {

// A search looks through the first kSearchedBytes of a block's text.
inline constexpr std::size_t kSearchedBytes = 256U << 10;

// Every block has the first of these words in the index; the others stand for a type and for an
// actor who may read.
inline constexpr std::string_view kEverybody = "rall";
std::string search_tag(const policy::Actor& actor);
std::string search_tag(MemoryType type);

// The text of the block at that version: of its content up to so many bytes, or a line more. `gone`
// for a block that is deleted, or whose header does not parse.
store::TextRecord search_text(const store::DocumentRecord& record, crdt::Doc& doc,
                              std::uint64_t version, std::size_t bytes = kSearchedBytes);

}  // namespace quire::kernel

// The types of memory blocks, by when a model sees them.
#pragma once

#include "base/enum_words.h"

namespace quire::kernel {

// core: always in an agent's context. working: in context if it is pinned. archival: found by
// searching.
enum class MemoryType { core, working, archival };
constexpr auto words_of(MemoryType) {
    return word_table("core", "working", "archival");
}

}  // namespace quire::kernel

// The words for bringing a tree's changes, and for what became of that.
#pragma once

#include <cstdint>

#include "base/enum_words.h"

namespace quire::kernel {

// A land brings the adopted tree's changes into the workspace, a refresh the workspace's into the tree.
enum class Direction : std::uint8_t { land, refresh };

// The outcome of a land or of a refresh.
enum class SyncOutcome {
    done,
    conflict,  // It was done, and places are left that both sides changed.
    busy,      // Files are being written. Nothing was changed.
    asked,     // A person is asked. Nothing was changed.
    refused,   // Nothing was changed; `failure` says why.
};
constexpr auto words_of(SyncOutcome) {
    return word_table("done", "conflict", "busy", "asked", "refused");
}

}  // namespace quire::kernel

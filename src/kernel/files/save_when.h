// SaveWhen: when edits of files reach the disk, by quire.toml.
#pragma once

#include "base/enum_words.h"

namespace quire::kernel {

// When they are saved, or before they are answered. The settings call the first one "explicit",
// which is a keyword of C++.
enum class SaveWhen { on_demand, on_commit };
constexpr auto words_of(SaveWhen) {
    return word_table("explicit", "on_commit");
}

}  // namespace quire::kernel

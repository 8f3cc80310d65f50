// SaveWhen: when edits of files reach the disk, by quire.toml.
#pragma once

#include "base/enum_words.h"

namespace quire::kernel {

// `on_demand` is called "explicit" in the settings, because that is no name for an enumerator here.
// When they are saved, or before they are answered.
enum class SaveWhen { on_demand, on_commit };
constexpr auto words_of(SaveWhen) {
    return word_table("explicit", "on_commit");
}

}  // namespace quire::kernel

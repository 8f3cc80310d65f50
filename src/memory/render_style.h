// RenderStyle: how a memory block is drawn for a model.
#pragma once

#include "base/enum_words.h"

namespace quire::memory {

enum class RenderStyle {
    tags,  // <block:LABEL permission="…">, with what each field and section is for.
    plain  // <LABEL>, with the block's description alone.
};
constexpr auto words_of(RenderStyle) {
    return word_table("tags", "plain");
}

}  // namespace quire::memory

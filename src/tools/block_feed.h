// Events of blocks as answers and notifications show them.
#pragma once

#include <string>
#include <vector>

#include "base/enum_words.h"
#include "kernel/core/block_event.h"
#include "kernel/core/feed_calls.h"

namespace quire::tools {

// The content of events: the change as text, or the operations that made it.
enum class EventFormat { text, ops };
constexpr auto words_of(EventFormat) {
    return word_table("text", "ops");
}

inline constexpr const char* kFormatSays =
    "text (default): what changed, in lines; ops: Loro updates, base64.";

kernel::BlockEvent shown_event(kernel::BlockEvent event, EventFormat format);
// One line for each event: what it is of, its version, who, and what.
std::string words_of_event(const kernel::BlockEvent& event);

}  // namespace quire::tools

// Events of blocks as answers and notifications show them.
#pragma once

#include <string>
#include <vector>

#include "base/enum_words.h"
#include "kernel/core/block_event.h"
#include "kernel/core/feed_calls.h"

namespace quire::tools {

// The content of events: the change as text, for people and models, or the operations that made it,
// for programs that keep a document of their own.
enum class EventFormat { text, ops };
constexpr auto words_of(EventFormat) {
    return word_table("text", "ops");
}

inline constexpr const char* kFormatSays =
    "text (default): what changed, in lines; ops: Loro updates, base64.";

// The event with the members of its format alone. In `ops` an event without operations has
// `updates` with nothing in it, so that the member is always there.
kernel::BlockEvent shown_event(kernel::BlockEvent event, EventFormat format);
// One line for an event: what it is of, its version, who, and what. Texts are cut at 200 code
// points and their invisible characters are written out.
std::string words_of_event(const kernel::BlockEvent& event);

}  // namespace quire::tools

#include "tools/block_feed.h"

#include "base/concat.h"
#include "base/utf8.h"
#include "text/escape_hidden.h"

namespace quire::tools {
namespace {

constexpr std::size_t kShownText = 200;  // Code points; the structured answer has all.

std::string shown(std::string_view text) {
    return cat("'", text::escape_hidden(utf8::prefix(text, kShownText)), "'",
               utf8::count_code_points(text) > kShownText ? " and more" : "");
}

}  // namespace

kernel::BlockEvent shown_event(kernel::BlockEvent event, EventFormat format) {
    if (format == EventFormat::text) {
        event.updates.reset();
        return event;
    }
    // Operations say everything, so what they did in words would only be sent twice.
    event.text.reset();
    event.edits.reset();
    event.status.reset();
    event.metadata.reset();
    event.block.reset();
    event.content.reset();
    // A change without operations, as of a status that is no part of the text, still has the member
    // that the format promises.
    if (!event.updates) event.updates.emplace();
    return event;
}

std::string words_of_event(const kernel::BlockEvent& event) {
    std::string out = cat(event.block_id);
    if (!event.path.empty()) cat_to(out, cat(" ", text::escape_hidden(event.path)));
    if (!event.label.empty())
        cat_to(out, cat(" ", event.owner, "/", text::escape_hidden(event.label)));
    cat_to(out, cat(" version ", event.version, " by ", event.actor, ": ", name_of(event.type)));
    if (event.text) cat_to(out, cat(" ", shown(*event.text)));
    if (event.status) cat_to(out, cat(" ", *event.status));
    if (event.content) cat_to(out, cat(" with ", shown(*event.content)));
    if (event.edits) {
        for (const auto& edit : *event.edits)
            cat_to(out, cat(" [", edit.start, ", ", edit.end, ") ", shown(edit.content)));
    }
    if (event.updates) cat_to(out, cat(" ", event.updates->size(), " bytes of updates"));
    return out + "\n";
}

}  // namespace quire::tools

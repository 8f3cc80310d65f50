// An offset in code points or UTF-16 units becomes bytes by the rope's sums, in O(log n).
// Conversion goes down to the code point that holds the position and back: a position that does not
// come back was inside of it, a byte within a character or the second half of a surrogate pair.
#include "edits/offset_splice.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "edits/edited_text.h"
#include "edits/quoted.h"

namespace quire::edits {

namespace {

std::string_view unit_name(OffsetUnit unit) {
    static constexpr std::string_view kNames[] = {"byte", "code point", "UTF-16 unit"};
    return kNames[static_cast<std::size_t>(unit)];
}

// The length of the text in the unit.
std::size_t size_in(const seq::Rope& text, OffsetUnit unit) {
    switch (unit) {
        case OffsetUnit::byte:
            return text.bytes().n;
        case OffsetUnit::codepoint:
            return text.code_points().n;
        case OffsetUnit::utf16:
            return text.utf16().n;
    }
    return 0;
}

std::size_t from_byte(const seq::Rope& text, text::Byte at, OffsetUnit unit) {
    switch (unit) {
        case OffsetUnit::byte:
            return at.n;
        case OffsetUnit::codepoint:
            return text.to_code_point(at).n;
        case OffsetUnit::utf16:
            return text.to_utf16(at).n;
    }
    return 0;
}

// The first byte of the code point that contains `position`.
text::Byte floor_byte(const seq::Rope& text, std::size_t position, OffsetUnit unit) {
    switch (unit) {
        case OffsetUnit::byte:
            return text.to_byte(text.to_code_point(text::Byte{position}));
        case OffsetUnit::codepoint:
            return text.to_byte(text::CodePoint{position});
        case OffsetUnit::utf16:
            return text.to_byte(text::Utf16{position});
    }
    return {};
}

// The byte offset of `position`, which must exist and be the start of a code point.
Result<text::Byte> resolve(const seq::Rope& text, std::size_t position, OffsetUnit unit) {
    const std::size_t max = size_in(text, unit);
    if (position > max) {
        return fail(Errc::out_of_range, "invalid_range",
                    cat(unit_name(unit), " ", position, " is past the end: the block has ", max,
                        " of them. Read the block, and call again with offsets up to ", max),
                    {{"requested", position}, {"max", max}});
    }
    const text::Byte at = floor_byte(text, position, unit);
    const std::size_t below = from_byte(text, at, unit);
    if (below == position) return at;

    text::Byte next = at + text::Byte{1};
    while (!text.is_boundary(next)) next += text::Byte{1};
    const std::size_t above = from_byte(text, next, unit);
    const std::size_t nearest = above - position < position - below ? above : below;
    return invalid("not_on_boundary",
                   cat(unit_name(unit), " ", position, " is inside a character, which goes from ",
                       below, " to ", above, ". Use one of these"),
                   {{"position", position}, {"nearest", nearest}});
}

// The range is resolved before anything else, so that a wrong offset is reported as such.
Result<Planned> plan(const OffsetSplice& splice, const seq::Rope& text) {
    TRY(check_written(splice.insert, splice.limits));
    const text::Byte begin = TRY(resolve(text, splice.offset, splice.unit));
    // The addition saturates, so a huge count is reported as past the end.
    const std::size_t room = SIZE_MAX - splice.offset;
    const text::Byte end =
        TRY(resolve(text, splice.offset + std::min(splice.delete_count, room), splice.unit));
    TRY(check_block_size(text.bytes().n - (end - begin).n + splice.insert.size(), splice.limits));

    if (splice.expected) {
        const bool same_size = splice.expected->size() == (end - begin).n;
        if (!same_size || text.slice(begin, end) != *splice.expected) {
            Quoted actual = quoted(text, begin, end);
            const std::string_view what_next =
                actual.whole ? "Call again with it as expected if the change is still right"
                             : "That is not all of it: read the block, and call again with the "
                               "text as it is if the change is still right";
            // Lines are in the details too, for a caller that then reads the block by lines. One
            // splice is operation 0, as in a batch.
            Map details{{"operation", 0},
                        {"offset", splice.offset},
                        {"start_line", text.to_line(begin).n},
                        {"end_line", text.to_line(end).n + 1},
                        {"expected", *splice.expected},
                        {"actual", actual.text}};
            if (!actual.whole) details.append("actual_truncated", true);
            return fail(Errc::conflict, "content_mismatch",
                        cat("the text to delete is not what was expected. It is now:\n",
                            actual.text, "\n", what_next),
                        std::move(details));
        }
    }
    EditedText draft(text);
    draft.splice(begin, end - begin, splice.insert);
    return Planned{draft.splices(), {}};
}

}  // namespace

Plan offset_splice(OffsetSplice splice) {
    return [splice = std::move(splice)](const seq::Rope& text, std::uint64_t) {
        return plan(splice, text);
    };
}

}  // namespace quire::edits

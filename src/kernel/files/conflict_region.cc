// A region is kept as the atoms of three characters: the one before it, its last one, and the one
// after it. An atom keeps its place while the text around it changes, and one that was deleted
// still has the place where it stood. So the place of a conflict survives edits, undo and a
// restart. Callers count in bytes, cursors in code points; the rope converts in O(log n).
#include "kernel/files/conflict_region.h"

#include <algorithm>
#include <optional>

#include "crdt/doc/cursor.h"
#include "crdt/doc/text.h"
#include "kernel/core/unit.h"

namespace quire::kernel {
namespace {

bool knows(const files::Version& version, std::uint64_t peer, std::int32_t counter) {
    const auto found = version.find(peer);
    return found != version.end() && counter < found->second;
}

// The atom of the character at a position in code points.
std::optional<files::Anchor> atom_at(const crdt::Doc& doc, crdt::Handle text, std::size_t at) {
    const Result<crdt::Cursor> cursor = crdt::cursor_at(doc, text, at);
    if (!cursor || !cursor->anchor) return std::nullopt;
    return files::Anchor{cursor->anchor->peer, cursor->anchor->counter};
}

// The place of a character, or the one that it would have had it not been deleted.
struct Found {
    std::size_t at = 0;  // In code points.
    bool there = false;
};

Result<Found> find(const crdt::Doc& doc, crdt::Handle text, const files::Anchor& anchor) {
    const crdt::CursorPlace place =
        TRY(crdt::resolve(doc, {doc.id_of(text), crdt::OpId{anchor.peer, anchor.counter}, {}, 0}));
    return Found{place.pos, !place.renewed};
}

// In code points.
Result<TextPart> found_part(const crdt::Doc& doc, const files::Region& region, crdt::Handle text,
                            std::size_t size) {
    // A part without its last character ends before `next`: where the last one stood may be in the
    // middle of what has replaced it.
    TextPart part{0, size};
    if (region.before) {
        const Found before = TRY(find(doc, text, *region.before));
        part.begin = before.at + (before.there ? 1 : 0);
    }
    const Found last = region.last ? TRY(find(doc, text, *region.last)) : Found{};
    if (last.there) {
        part.end = last.at + 1;
    } else if (region.next) {
        part.end = TRY(find(doc, text, *region.next)).at;
    }
    part.end = std::max(part.begin, part.end);
    return part;
}

// How many characters of a part are looked at for their writer.
constexpr std::size_t kMostLookedAt = 10'000;

bool is_content_of_actor(const Unit& unit) {
    return !unit.spans.empty() && !unit.actor.starts_with("source:") &&
           !unit.actor.starts_with("system:");
}

}  // namespace

files::Region region_of(const crdt::Doc& doc, crdt::Handle text, TextPart part) {
    const seq::Rope& rope = doc.text(text).rope();
    const std::size_t begin = rope.to_code_point(text::Byte{part.begin}).n;
    const std::size_t end = rope.to_code_point(text::Byte{part.end}).n;
    files::Region region;
    if (begin > 0) region.before = atom_at(doc, text, begin - 1);
    if (end > begin) region.last = atom_at(doc, text, end - 1);
    if (end < rope.code_points().n) region.next = atom_at(doc, text, end);
    return region;
}

TextPart place_of(const crdt::Doc& doc, const files::Region& region, crdt::Handle text) {
    const seq::Rope& rope = doc.text(text).rope();
    const std::size_t size = rope.bytes().n;
    const Result<TextPart> found = found_part(doc, region, text, rope.code_points().n);
    if (!found) return {0, size};
    TextPart part{rope.to_byte(text::CodePoint{found->begin}).n,
                  rope.to_byte(text::CodePoint{found->end}).n};
    // Both sides of a conflict are shown and settled as lines, so the part grows to whole ones. A
    // part without lines stays one if it stands between two lines.
    const std::size_t line = rope.line_start(rope.to_line(text::Byte{part.begin})).n;
    const bool at_end = part.begin == size && (size == 0 || rope.ends_with_newline());
    const bool between = part.begin == part.end && (at_end || part.begin == line);
    if (between) return part;
    if (!at_end) part.begin = line;
    // The last byte says which line is the last, so that a part which ends behind a newline does
    // not take in the line after it.
    const std::size_t last = std::max(part.begin, part.end - std::min<std::size_t>(part.end, 1));
    part.end =
        std::max(part.end, rope.line_start(text::Line{rope.to_line(text::Byte{last}).n + 1}).n);
    return part;
}

std::string writer_of(LiveDocument& document, TextPart part, const files::Version& known) {
    const BlockRef block = document.whole();
    const crdt::Doc& doc = document.doc();
    const seq::Rope& rope = doc.text(block.content).rope();
    const std::vector<Unit>& units = block.state->history.units();
    const std::size_t begin = rope.to_code_point(text::Byte{part.begin}).n;
    const std::size_t end =
        std::min(rope.to_code_point(text::Byte{part.end}).n, begin + kMostLookedAt);
    // Only entries newer than the newest found so far are searched, so most characters cost
    // nothing. O(characters · entries) at worst.
    std::size_t newest = 0;
    bool found = false;
    for (std::size_t at = begin; at < end; ++at) {
        const std::optional<files::Anchor> atom = atom_at(doc, block.content, at);
        if (!atom || knows(known, atom->peer, atom->counter)) continue;
        for (std::size_t i = units.size(); i-- > (found ? newest + 1 : 0);) {
            const bool wrote = is_content_of_actor(units[i]) &&
                               std::ranges::any_of(units[i].spans, [&](const crdt::IdSpan& span) {
                                   return span.peer == atom->peer && span.begin <= atom->counter &&
                                          atom->counter < span.end;
                               });
            if (!wrote) continue;
            newest = i;
            found = true;
            break;
        }
    }
    if (found) return units[newest].actor;
    // No character is new, so something was only deleted. That leaves no character to ask; the
    // newest entry that the disk has not seen made it.
    for (std::size_t i = units.size(); i-- > 0;) {
        const bool is_new =
            is_content_of_actor(units[i]) &&
            std::ranges::any_of(units[i].spans, [&](const crdt::IdSpan& span) {
                return span.end > span.begin && !knows(known, span.peer, span.end - 1);
            });
        if (is_new) return units[i].actor;
    }
    return {};
}

}  // namespace quire::kernel

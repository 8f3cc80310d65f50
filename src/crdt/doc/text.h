// TextView: reads and edits a text. Positions count code points.
//
// A text is stored as a rope and may carry styles, as in Peritext (Litt et al., 2022): a style is a
// pair of anchors between characters, so that text typed inside a style has it as well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "crdt/doc/doc.h"
#include "crdt/ids/diff.h"
#include "crdt/ids/version.h"
#include "seq/rope.h"

namespace quire::crdt {

class TextView : public ContainerView {
public:
    // The text without its styles. The reference holds until the document changes; a copy is O(1)
    // and holds for good.
    const seq::Rope& rope() const;
    // The text with its styles: inserts only, where neighbours have different attributes.
    // O(n log n) in characters and anchors.
    TextDelta delta() const;
    // The text at an earlier version. O(history of the container). Errors: not_found
    // "unknown_version".
    Result<std::string> at(const Frontiers& version) const;

    // The ids of the characters that readers see, in order: stretches of consecutive ids. O(n) in
    // the stretches that were ever written, once the container's order of atoms is built. Errors:
    // those of History::load().
    Result<std::vector<IdSpan>> characters() const;

    // Errors of all edits: see container_view.h.
    Result<void> insert(text::CodePoint at, std::string_view utf8) {
        return insert_into(doc(), handle(), at, utf8);
    }
    Result<void> erase(text::CodePoint at, text::CodePoint count) {
        return erase_from(doc(), handle(), at, count);
    }

    // Gives the characters [begin, end) a style. Characters that have it already get no op.
    // O(log anchors), amortised. Errors also: invalid_argument "empty_range", "unknown_style_key".
    Result<void> mark(text::CodePoint begin, text::CodePoint end, std::string_view key,
                      Value value);
    // Removes a style: marks with null.
    Result<void> unmark(text::CodePoint begin, text::CodePoint end, std::string_view key);
    // Carries out a delta, all of it or nothing. Attributes of a retained stretch are marked, or
    // removed where they are null. Inserted text has the attributes it comes with and no others.
    Result<void> apply(const TextDelta& delta);

private:
    friend class Doc;
    TextView(const Doc& doc, Handle handle) : ContainerView(doc, handle) {}
    // Typing is a few instructions, so the view comes in registers: `this` would put it in memory.
    // A view has padding: to copy it for each letter typed would stall on what was just stored.
    static Result<void> insert_into(const Doc& doc, Handle text, text::CodePoint at,
                                    std::string_view utf8);
    static Result<void> erase_from(const Doc& doc, Handle text, text::CodePoint at,
                                   text::CodePoint count);
};

inline TextView Doc::text(Handle text) {
    return {*this, text};
}
inline const TextView Doc::text(Handle text) const {
    return {*this, text};
}

}  // namespace quire::crdt

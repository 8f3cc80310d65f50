// Converting the content of one schema into that of another: values in, values and a report out.
// Pure.
//
// A place is a part of a block that is a text, a field, a list or a log: "FIELD" of a Map,
// "SECTION" or "SECTION/FIELD" of a Composite, "" for a block without parts. A place of the new
// schema is filled from the old place that a mapping names, else from the place of the same name. A
// block with a single place is split over the places that its text mentions:
//
//   into a Map        lines "NAME: value", and "- item" lines below the name of a List field
//   into a Composite  the text below "=== NAME ===", "# NAME" or "## NAME"
//
// NAME is the name of the place, or the one that the mapping gives for it; "*" in a mapping stands
// for everything that no name mentioned. Case does not matter, nor does '_' for a blank.
//
// Between kinds: a text becomes list items or entries line by line (bullets and check boxes are
// removed), or a number, a truth value or a time if it reads as one; everything can become text;
// items and entries become each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "memory/block_schema.h"

namespace quire::memory {

// The outcome of a conversion.
struct Conversion {
    struct Move {
        std::string from;
        std::string to;
        friend bool operator==(const Move&, const Move&) = default;
    };
    // Fits the new schema except for `unset`; the block then reads so.
    Value value;
    std::vector<Move> moved;  // The places that were filled, and their sources.
    // A description of all content that has no place in the new schema.
    std::vector<std::string> lost;
    // Required fields without a value and without a default.
    std::vector<std::string> unset;
};

// `value` belongs to `from`. Errors: invalid_argument "invalid_mapping" {place} for a place that
// neither schema has, and for a mapping that is not text.
Result<Conversion> convert(const BlockSchema& from, const Value& value, const BlockSchema& to,
                           const Map& mapping);

// The first thing that an agent may not change but that would change: a field or section that is
// read-only in `from` and differs in `to` or in value, or one that is read-only only in `to` and
// would not be empty.
struct ReadOnlyBreach {
    bool is_section = false;
    std::string name;
};
std::optional<ReadOnlyBreach> read_only_breach(const BlockSchema& from, const Value& value,
                                               const BlockSchema& to, const Value& converted);

// Returns true if every value of `from` is a value of `to` and lies where `to` looks for it: fields,
// sections and limits were added or described anew; nothing was renamed, narrowed or removed.
bool is_additive(const BlockSchema& from, const BlockSchema& to);

}  // namespace quire::memory

// Converting what one schema holds into what another does: values in, values and a report out.
// Pure.
//
// A place is a part of a block that is a text, a field, a list or a log: "FIELD" of a Map,
// "SECTION" or "SECTION/FIELD" of a Composite, "" where the block has no parts. A place of the new
// schema is filled from the place of the old one that a mapping names, else from that of the same
// name; a block that has a single place fills the places of the new schema that it speaks of:
//
//   into a Map        lines "NAME: value", and "- item" lines below the name of a List field
//   into a Composite  what stands below "=== NAME ===", "# NAME" or "## NAME"
//
// NAME is the place's, or what the mapping gives for it; "*" in a mapping stands for all that no
// name spoke of. Case, and '_' for a blank, make no difference.
//
// Between kinds: a text becomes list items or entries line by line (bullets and boxes taken off), a
// number, a truth or a time where it reads as one; everything becomes text; items and entries
// become each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "memory/block_schema.h"

namespace quire::memory {

struct Conversion {
    struct Move {
        std::string from;
        std::string to;
        friend bool operator==(const Move&, const Move&) = default;
    };
    Value value;              // Fits the new schema but for `unset`; what a block then reads as.
    std::vector<Move> moved;  // Places that were filled, and from where.
    std::vector<std::string> lost;   // What has no place in the new schema, in words.
    std::vector<std::string> unset;  // Required fields without a default that have no value.
};

// `value` is of `from`. Errors: invalid_argument "invalid_mapping" {place} for a place that neither
// schema has, and for what is not a text.
Result<Conversion> convert(const BlockSchema& from, const Value& value, const BlockSchema& to,
                           const Map& mapping);

// The first thing that is not an agent's to change and would be: a field or a section that `from`
// has as read-only and `to` has not just so, or whose value would be another; one that is read-only
// in `to` alone and would not be empty.
struct ReadOnlyBreach {
    bool is_section = false;
    std::string name;
};
std::optional<ReadOnlyBreach> read_only_breach(const BlockSchema& from, const Value& value,
                                               const BlockSchema& to, const Value& converted);

// Whether every value of `from` is one of `to` and lies where `to` looks for it: fields, sections
// and limits were added or described anew, nothing that is there was renamed, narrowed or taken
// away.
bool is_additive(const BlockSchema& from, const BlockSchema& to);

}  // namespace quire::memory

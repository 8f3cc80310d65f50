// Conflict: a place of a file that the disk and the document changed in ways that cannot be merged.
//
// It is a record, not marks in the text: the document shows the agents' side, the record keeps the
// disk's and what both came from. Its place moves with later edits of the document. Records are kept
// with the state of the disk (disk_state.h), and the file cannot be saved while there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/enum_words.h"
#include "base/result.h"

namespace quire::files {

// A version of a document: each peer with the number of its atoms.
using Version = std::map<std::uint64_t, std::int32_t>;

// The kinds of conflicts, by what the two sides could not agree on.
enum class ConflictKind : std::uint8_t {
    lines,     // Some lines.
    whole,     // The whole file, which is never merged.
    deletion,  // The disk deleted the file, or put something else in its place.
};
constexpr auto words_of(ConflictKind) {
    return word_table("lines", "whole", "deletion");
}

// The atom of a character.
struct Anchor {
    std::uint64_t peer = 0;
    std::int32_t counter = 0;
    friend bool operator==(const Anchor&, const Anchor&) = default;
};

// The part of a document's text that a conflict is about. It begins after the character `before`
// (none: at the start) and ends after `last`, or, once that is deleted, before the character `next`
// (none: at the end). So text that is written in the place of the part is part of it.
struct Region {
    std::optional<Anchor> before;
    std::optional<Anchor> last;  // None for a region that was empty.
    std::optional<Anchor> next;
    friend bool operator==(const Region&, const Region&) = default;
};

struct Conflict {
    std::uint32_t number = 0;  // Never used again for the file.
    ConflictKind kind = ConflictKind::lines;
    Region region;
    std::string base;         // The text that both sides changed.
    std::string agent;        // The document's side when the conflict was made or last changed.
    std::string disk;         // The disk's side.
    std::size_t disk_at = 0;  // The place of `disk` in the disk's text, in bytes.
    std::string actor;        // The author of the document's side.
    std::int64_t since_ms = 0;
    Version base_version;   // The version that both sides came from.
    Version agent_version;  // The document's before the disk's change was merged into it.
    Version disk_version;   // The disk's.

    // How callers name it: "c7".
    std::string id() const;
    friend bool operator==(const Conflict&, const Conflict&) = default;
};

// For a header. Each text stands after its length and each list after its count, so records can
// follow one another.
void write(ByteWriter& out, const Version& version);
void write(ByteWriter& out, const Conflict& conflict);
// The reader fails for what write() cannot have written.
Version read_version(ByteReader& in);
Conflict read_conflict(ByteReader& in);

}  // namespace quire::files

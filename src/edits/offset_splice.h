// Splices by offset, as programs and editors send them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/enum_words.h"
#include "edits/plan.h"

namespace quire::edits {

// The unit in which an offset counts.
enum class OffsetUnit { byte, codepoint, utf16 };
constexpr auto words_of(OffsetUnit) {
    return word_table("byte", "codepoint", "utf16");
}

struct OffsetSplice {
    std::size_t offset = 0;
    std::size_t delete_count = 0;
    std::string insert = {};
    OffsetUnit unit = OffsetUnit::byte;
    std::optional<std::string> expected = {};  // The exact text that is deleted.
    EditLimits limits = {};
};

// The splice in bytes of the text; `insert` is written unchanged. Errors: out_of_range
// "invalid_range" {requested, max} past the end; invalid_argument "not_on_boundary" {position,
// nearest} inside a code point; conflict "content_mismatch" {offset, expected, actual};
// out_of_range "too_large" {limit}; invalid_argument "invalid_utf8".
Plan offset_splice(OffsetSplice splice);

}  // namespace quire::edits

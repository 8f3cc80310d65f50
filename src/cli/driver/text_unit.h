// Positions in a text, in the unit that a request names.
//
// The document itself counts code points. Clients in JavaScript count UTF-16 units, and others
// count bytes; both are converted at the door, in O(log n).
#pragma once

#include "base/enum_words.h"
#include "cli/driver/argument.h"
#include "seq/rope.h"

namespace quire::cli {

enum class TextUnit { unicode, utf16, utf8 };
constexpr auto words_of(TextUnit) {
    return word_table("unicode", "utf16", "utf8");
}

// Code points where a request names no unit.
template <>
struct Argument<TextUnit> {
    static constexpr bool kIsNamed = true;
    static Result<TextUnit> read(EngineCall& call) {
        return TRY(Argument<std::optional<TextUnit>>::read(call)).value_or(TextUnit::unicode);
    }
};

// Errors: out_of_range "out_of_bound"; invalid_argument "position_not_on_boundary". The code point
// at a position that counts in `unit`. A position at the end of the text is valid; one within a
// code point, or between two surrogates, is not.
Result<text::CodePoint> code_point(const seq::Rope& rope, std::size_t position, TextUnit unit);

// The position in `unit`. CHECKs that it is in the text.
std::size_t in_unit(const seq::Rope& rope, text::CodePoint at, TextUnit unit);

}  // namespace quire::cli

// Positions in a text, in the unit that a request names.
#pragma once

#include "cli/driver/session.h"
#include "seq/rope.h"

namespace quire::cli {

enum class TextUnit { unicode, utf16, utf8 };

// `unit` of the request; code points when it names none. Errors: invalid_argument.
Result<TextUnit> unit_of(const EngineRequest& request);

inline const seq::Rope& rope_of(const EngineTarget& text) {
    return text.doc.text(text.handle).rope();
}

// Errors: out_of_range "out_of_bound"; invalid_argument "position_not_on_boundary".
Result<text::CodePoint> code_point(const seq::Rope& rope, std::size_t position, TextUnit unit);

// The position in `unit`. CHECKs that it is in the text.
std::size_t in_unit(const seq::Rope& rope, text::CodePoint at, TextUnit unit);

}  // namespace quire::cli

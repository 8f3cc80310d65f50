// A part of a text, cut to a size that fits into an error.
#pragma once

#include <string>

#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

// The quoted part.
struct Quoted {
    std::string text;   // At most 64 KiB, cut between code points.
    bool whole = true;  // False if something was cut.
};

// Requires begin <= end, both on code point boundaries of the text.
Quoted quoted(const seq::Rope& text, text::Byte begin, text::Byte end);

}  // namespace quire::edits

// A part of a text as an error quotes it.
#pragma once

#include <string>

#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

struct Quoted {
    std::string text;   // At most 64 KiB, cut between code points.
    bool whole = true;  // Nothing was cut.
};

// Requires begin <= end, both boundaries of the text.
Quoted quoted(const seq::Rope& text, text::Byte begin, text::Byte end);

}  // namespace quire::edits

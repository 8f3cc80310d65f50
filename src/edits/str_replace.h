// Replacing text that occurs exactly once: the edit that models make most reliably.
#pragma once

#include <string>
#include <string_view>

#include "edits/numbering.h"
#include "edits/plan.h"

namespace quire::edits {

// The caller's names for its arguments, and its way to do what was attempted wrongly.
struct StrReplaceWords {
    std::string_view old_str = "old_str";
    std::string_view whole = "the block";
    std::string_view look = "View the block";
    std::string_view to_add = "use block_insert to add lines";
    std::string_view to_replace_all = ", or pass replace_all: true to replace every one";
};

// One call.
struct StrReplace {
    std::string old_str;
    std::string new_str = {};
    bool replace_all = false;
    Numbering numbering = Numbering::one_inclusive;
    EditLimits limits = {};
    StrReplaceWords words = {};
};

// The match must be exact, and unique unless replace_all is set. Two copying mistakes are forgiven,
// with a note: the other kind of line ends, and the "number TAB" of a view before every line of
// old_str. Wrong indentation is not forgiven. Written newlines take the style of the surrounding
// text.
//
// Errors: conflict "no_match" {closest: {start_line, end_line}} with the most similar lines in the
// message, tabs and trailing blanks made visible; conflict "not_unique" {lines}; invalid_argument
// "empty_content" for an empty old_str, "invalid_utf8"; out_of_range "too_large" {limit}. One pass
// over the text, more only if old_str is not found.
Plan str_replace(StrReplace replace);

}  // namespace quire::edits

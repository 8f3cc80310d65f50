// Replacing text that occurs exactly once: the edit that models know best.
#pragma once

#include <string>
#include <string_view>

#include "edits/numbering.h"
#include "edits/plan.h"

namespace quire::edits {

// What the caller's arguments are called, and how the caller would do what was not right this way.
struct StrReplaceWords {
    std::string_view old_str = "old_str";
    std::string_view whole = "the block";
    std::string_view look = "View the block";
    std::string_view to_add = "use block_insert to add lines";
    std::string_view to_replace_all = ", or pass replace_all: true to replace every one";
};

struct StrReplace {
    std::string old_str;
    std::string new_str = {};
    bool replace_all = false;
    Numbering numbering = Numbering::one_inclusive;
    EditLimits limits = {};
    StrReplaceWords words = {};
};

// Exact, and unique unless replace_all. Two copying faults are forgiven, with a note: line ends of
// the other kind, and the "number TAB" of a view before every line of old_str. Indentation is not.
// Newlines that are written take the style of the text around them.
//
// Errors: conflict "no_match" {closest: {start_line, end_line}} with the most similar lines in the
// message, tabs and trailing blanks made visible; conflict "not_unique" {lines}; invalid_argument
// "empty_content" for an empty old_str, "invalid_utf8"; out_of_range "too_large" {limit}. One pass
// over the text; more only for one without old_str.
Plan str_replace(StrReplace replace);

}  // namespace quire::edits

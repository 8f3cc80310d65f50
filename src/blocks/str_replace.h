// Replacing text that occurs exactly once: the edit that models know best.
#pragma once

#include <string>

#include "blocks/numbering.h"
#include "blocks/plan.h"

namespace quire::blocks {

struct StrReplace {
    std::string old_str;
    std::string new_str = {};
    bool replace_all = false;
    Numbering numbering = Numbering::one_inclusive;
    EditLimits limits = {};
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

}  // namespace quire::blocks

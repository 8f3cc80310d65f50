// Finding lines of a block, with the lines around them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "seq/rope.h"
#include "text/search.h"
#include "text/units.h"

namespace quire::edits {

struct FindOptions {
    std::size_t context_lines = 2;
    std::size_t max_matches = 20;
    std::size_t columns = 2000;  // Of a line that is shown; a longer one is cut around its match.
};

struct Finding {
    struct Hit {
        text::Line line;
        // The line with the lines around it, joined by '\n'. Where contexts meet, each line is in
        // the content of one hit only: the lines between two hits are the first one's.
        std::string content;
        text::Line content_begin;  // The first line of `content`.
        // Where the match lies in `content`, in code points: of a match that is longer than what is
        // shown of its line, what is shown.
        std::size_t match_start = 0;
        std::size_t match_end = 0;
        bool cut = false;  // A line of `content` is longer than what is shown of it.
    };
    std::vector<Hit> hits;   // In the order of the text.
    bool truncated = false;  // There are more than max_matches.
};

// One pass, linear in the text. Every place in a line counts; an empty match once for a line.
Finding find(const seq::Rope& text, const text::Query& query, const FindOptions& options);

}  // namespace quire::edits

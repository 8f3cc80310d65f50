// Searching a block line by line, with the lines around each hit.
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
    // The most code points shown of a line; a longer one is cut around its match.
    std::size_t columns = 2000;
};

// The hits of one search.
struct Finding {
    struct Hit {
        text::Line line;
        // The line and the lines around it, joined by '\n'. If contexts meet, each line appears
        // once: the lines between two hits belong to the first.
        std::string content;
        text::Line content_begin;  // The first line of `content`.
        // The place of the match in its line, in code points, whatever `content` shows of it.
        std::size_t match_start = 0;
        std::size_t match_end = 0;
        bool cut = false;  // A line of `content` was cut.
    };
    std::vector<Hit> hits;   // In the order of the text.
    bool truncated = false;  // There are more hits than max_matches.
};

// One pass, linear in the text. Every place in a line counts; an empty match counts once per line.
Finding find(const seq::Rope& text, const text::Query& query, const FindOptions& options);

}  // namespace quire::edits

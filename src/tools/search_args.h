// The common part of block_search and kernel_search: bounds of their arguments, and their
// answers.
//
// Lines are numbered as the profile counts them. `match_start` and `match_end` say where in its line
// the match lies, in code points from 0, whatever the profile and the lines around. Long lines are cut
// around their matches; then the answer is `truncated`, too.
#pragma once

#include <string>
#include <vector>

#include "json/fields.h"
#include "kernel/core/block_reads.h"
#include "text/search.h"
#include "tools/render.h"
#include "tools/tool.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::Searched> {
    static Fields<kernel::Searched> fields() {
        using kernel::Searched;
        return Fields<Searched>()
            .required("indexed", &Searched::indexed)
            .required("scanned", &Searched::scanned)
            .required("left", &Searched::left);
    }
};

}  // namespace quire::json

namespace quire::tools {

// Bounds of arguments: lines around a match, and how many matches or blocks. They bound the answer
// and so the words that a model pays for.
inline Map context_rules() {
    return {{"maximum", 100}};
}
inline Map count_rules() {
    return {{"minimum", 1}, {"maximum", 1000}};
}

// A match. In profile `model` its place in the line is left out of the structured answer: the query
// shows it, and the two numbers cost a quarter more.
struct FoundLine {
    std::size_t line = 0;  // In the number base of the profile.
    std::string content;   // The line and the lines around it.
    std::size_t match_start = 0;
    std::size_t match_end = 0;  // Both in code points.
    static Fields<FoundLine> fields();
};
// The answer of a search in one block. `truncated`: there are more matches, or lines were cut.
struct Found {
    std::vector<FoundLine> matches;
    bool truncated = false;
    static Fields<Found> fields();
};
// The answer of a search in many blocks: those with a match, and how many were ruled out by the
// index, scanned, or left. `left` above 0 means that the search stopped before it had seen all.
struct FoundInMany {
    struct InBlock {
        std::string block_id;  // "file:PATH" of a file that was not opened.
        std::string path;
        std::string label, owner;  // A memory block's.
        std::vector<FoundLine> matches;
        static Fields<InBlock> fields();
    };
    std::vector<InBlock> blocks;
    kernel::Searched searched;
    bool truncated = false;
    static Fields<FoundInMany> fields();
};
// A line with several matches is a match each in `matches`, and is shown once in the text.
Answered<Found> render_found(const std::string& block_id, const edits::Finding& found,
                             Profile profile);
Answered<FoundInMany> render_found_all(const kernel::FoundAll& found, Profile profile);

}  // namespace quire::tools

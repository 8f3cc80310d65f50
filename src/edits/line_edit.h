// Line edits: what an agent says in lines, turned into the splices that a text container takes.
//
// A batch is planned against one version of the text and applied whole or not at all. Nothing here
// touches a document, a clock or a lock. Planning costs O(log n) for each operation, plus the text
// it names or writes; the text is never copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "edits/numbering.h"
#include "edits/plan.h"
#include "text/units.h"

namespace quire::edits {

// Before line `at`; at the end for line_count. A newline is added to content that lacks one, except
// into an empty text and at the end of a text whose last line has none: there one goes before.
struct InsertLines {
    text::Line at;
    std::string content;
    std::optional<std::string> expected_before;  // The line, or lines, that end where this goes.
};
struct DeleteLines {
    text::LineRange lines;
    std::optional<std::string> expected;
};
// Content that ends in a newline is kept; to other content one is added if the last line it
// replaces had one. "" deletes; an empty range inserts.
struct ReplaceLines {
    text::LineRange lines;
    std::string content;
    std::optional<std::string> expected;
};
using LineOp = std::variant<InsertLines, DeleteLines, ReplaceLines>;

enum class Coords {
    sequential,  // An operation sees the lines as the ones before it left them.
    original,    // All name the lines of the text before the call, and must not overlap.
};

// What the caller's arguments are called, and how the caller would do what was not right this way:
// what an error says must be there to be called.
struct LineWords {
    std::string_view line = "line";  // Where an insert goes.
    std::string_view to_delete = "op \"delete\" deletes lines";
    std::string_view to_begin = "op \"insert\" writes the first line";
};

struct LineEdit {
    std::vector<LineOp> operations;
    Coords coords = Coords::sequential;
    std::optional<std::uint64_t> base_version = {};
    Numbering numbering = Numbering::zero_half_open;  // Of messages and details.
    EditLimits limits = {};
    LineWords words = {};
};

// Errors, each with {operation}, the index of the operation that could not be done:
//   out_of_range "line_out_of_range" {requested, max}, "too_large" {limit};
//   invalid_argument "invalid_range" {start_line, end_line}, "empty_content",
//   "overlapping_operations"
//     {other}, "invalid_utf8" {offset};
//   conflict "content_mismatch" {start_line, end_line, expected, actual}, "version_conflict" {base,
//   current}.
// When the lines would have fitted had they been counted the other way (Coords), the message says
// so.
Plan line_edits(LineEdit edit);

// Compare-and-set: whether `expected` is what the lines of `range` say, each ended by '\n' or all
// but the last. "\r\n" is read as '\n'; nothing else is forgiven. Costs no more than `expected` is
// long.
bool lines_match(const seq::Rope& text, text::LineRange range, std::string_view expected);

}  // namespace quire::edits

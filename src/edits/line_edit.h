// Line edits: an agent's edits by line number, turned into the splices that a text container takes.
//
// A batch is planned against one version of the text and applied whole or not at all. Nothing here
// touches a document, a clock or a lock. Planning costs O(log n) per operation plus the text that
// it names or writes; the text itself is never copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/enum_words.h"
#include "base/result.h"
#include "edits/numbering.h"
#include "edits/plan.h"
#include "text/units.h"

namespace quire::edits {

// Inserts before line `at`; line_count means the end. Content without a final newline gets one,
// except in an empty text and at the end of a text whose last line has none: there the newline goes
// before the content.
struct InsertLines {
    text::Line at;
    std::string content;
    // The expected line or lines that end where the content goes.
    std::optional<std::string> expected_before;
};
// Deletes the lines of the range.
struct DeleteLines {
    text::LineRange lines;
    std::optional<std::string> expected;
};
// Replaces the lines of the range. Content without a final newline gets one if the last replaced
// line had one. "" deletes; an empty range inserts.
struct ReplaceLines {
    text::LineRange lines;
    std::string content;
    std::optional<std::string> expected;
};
using LineOp = std::variant<InsertLines, DeleteLines, ReplaceLines>;

// The text that the line numbers of a batch count in.
enum class Coords {
    // Each operation counts the lines as the operations before it left them.
    sequential,
    // All operations count the lines of the text before the call, and must not overlap.
    original,
};
constexpr auto words_of(Coords) {
    return word_table("sequential", "original");
}

// The caller's names for its arguments, and its way to do what was attempted wrongly. A message may
// only name things that the caller can call.
struct LineWords {
    std::string_view line = "line";  // The argument for the place of an insert.
    std::string_view to_delete = "op \"delete\" deletes lines";
    std::string_view to_begin = "op \"insert\" writes the first line";
};

// A batch of operations, as one call passes it.
struct LineEdit {
    std::vector<LineOp> operations;
    Coords coords = Coords::sequential;
    std::optional<std::uint64_t> base_version = {};
    Numbering numbering = Numbering::zero_half_open;  // For messages and details.
    EditLimits limits = {};
    LineWords words = {};
};

// Errors, each with {operation}, the index of the operation that failed:
//   out_of_range "line_out_of_range" {requested, max}, "too_large" {limit};
//   invalid_argument "invalid_range" {start_line, end_line}, "empty_content",
//     "overlapping_operations" {other}, "invalid_utf8" {offset};
//   conflict "content_mismatch" {start_line, end_line, expected, actual},
//     "version_conflict" {base, current}.
// If the batch would have fitted with the other Coords, the message says so.
Plan line_edits(LineEdit edit);

// Compare-and-set: true if the lines of `range` read `expected`, each ended by '\n' or all but the
// last. "\r\n" is read as '\n'; no other difference is forgiven. O(length of `expected`).
bool lines_match(const seq::Rope& text, text::LineRange range, std::string_view expected);

}  // namespace quire::edits

// Findings: what a compiler or a linter said, read from its text. Pure; any bytes will do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "base/value.h"
#include "json/fields.h"

namespace quire::diagnostics {

// From the gravest.
enum class Severity : std::uint8_t { error, warning, note };
constexpr auto words_of(Severity) {
    return word_table("error", "warning", "note");
}

struct Finding {
    std::string path;         // From the workspace's root where it is below it, else absolute.
    std::int64_t line = 0;    // 1-based; 0 where the tool named none.
    std::int64_t column = 0;  // 1-based, as the tool counts; 0 likewise.
    Severity severity = Severity::error;
    std::string message;
    std::string check;  // "-Wshadow", "bugprone-use-after-move"; "" where none is named.
    std::vector<std::string> notes;  // "path:line:column: what it says", in the tool's order.
    friend bool operator==(const Finding&, const Finding&) = default;
    static json::Fields<Finding> fields();
};

// The most findings kept of one run, the most notes of one finding, and the most code points of
// one text.
inline constexpr std::size_t kMostOfOneRun = 1000;
inline constexpr std::size_t kMostNotes = 8;
inline constexpr std::size_t kLongestText = 600;

// The place where the tool ran, and its file. All paths are absolute.
struct RunPlace {
    std::string root;       // The workspace's.
    std::string directory;  // The directory from which relative paths start.
    std::string file;       // The file to which findings without a place belong.
};

// "path:line:column: severity: message [check]", as gcc, clang and clang-tidy write it; the column
// may be missing. "fatal error" is an error, -Werror=x the check -Wx. A note belongs to what stands
// before it. Everything else (included from, in function, quoted lines, sums) is passed over.
std::vector<Finding> parse_findings(std::string_view output, const RunPlace& place);

// Sorts by path, line, column and severity, and drops repetitions, which files that include each
// other cause.
void sort_findings(std::vector<Finding>& findings);

// {path, line, column, severity, message}, with check and notes where there are any.
Value to_value(const Finding& finding);

}  // namespace quire::diagnostics

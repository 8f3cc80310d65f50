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

// Of one run at most so many are kept, of one finding so many notes, and so many code points of a
// text.
inline constexpr std::size_t kMostOfOneRun = 1000;
inline constexpr std::size_t kMostNotes = 8;
inline constexpr std::size_t kLongestText = 600;

// Where the tool ran, and for what. All absolute.
struct RunPlace {
    std::string root;       // The workspace's.
    std::string directory;  // What relative paths start from.
    std::string file;       // What findings without a place are given to.
};

// "path:line:column: severity: message [check]", as gcc, clang and clang-tidy write it; the column
// may be missing. "fatal error" is an error, -Werror=x the check -Wx. A note belongs to what stands
// before it. Everything else (included from, in function, quoted lines, sums) is passed over.
std::vector<Finding> parse_findings(std::string_view output, const RunPlace& place);

// By path, line, column and severity; each once, however many files include where it stands.
void sort_findings(std::vector<Finding>& findings);

// {path, line, column, severity, message}, with check and notes where there are any.
Value to_value(const Finding& finding);

}  // namespace quire::diagnostics

// compile_commands.json: how each source file of a project is compiled, as build systems write it
// down (Clang's "JSON Compilation Database Format Specification"). What it says is run, so whoever
// may write the file decides what runs. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace quire::diagnostics {

// A longer list is not read.
inline constexpr std::size_t kMostListBytes = std::size_t{256} << 20;

// One file, compiled one way.
struct CompileUnit {
    std::string directory;               // Absolute; where the command runs.
    std::string file;                    // Absolute, without "." and "..".
    std::vector<std::string> arguments;  // The program first; never empty.
    friend bool operator==(const CompileUnit&, const CompileUnit&) = default;
};

inline constexpr std::size_t kMostUnits = 100'000;

// `base`: an absolute directory, for entries whose own is relative. Equal entries are one. Errors:
// invalid_argument "invalid_compile_commands" {entry}, whose message names the entry, counted from
// 0, and what is wrong; out_of_range "too_large" {limit}.
Result<std::vector<CompileUnit>> parse_compile_commands(std::string_view text,
                                                        std::string_view base);

// Words as a POSIX shell splits them: blanks, '…', "…", backslashes. Nothing is expanded, and what
// a shell would do something else with ($ ; | > …) is text. Errors: invalid_argument
// "invalid_command" for a quote that is not closed.
Result<std::vector<std::string>> split_words(std::string_view command);

// The command that only checks the unit: with another compiler where `compiler` is not "", without
// the outputs and the launchers in front, and with what it read written to `depfile` as a rule of
// make.
std::vector<std::string> check_command(const CompileUnit& unit, const std::string& compiler,
                                       const std::string& depfile);
// The compiler that it runs, absolute where it is a path; else looked for in PATH.
std::string program_of(const CompileUnit& unit);
// The command that does no more than that, whatever is wrong with the unit; a header that is not
// there is named as it is included.
std::vector<std::string> inputs_command(const CompileUnit& unit, const std::string& compiler,
                                        const std::string& depfile);
// The directories in which headers are looked for, absolute: that of the file first.
std::vector<std::string> include_directories(const CompileUnit& unit);
// Checks with clang-tidy, which looks the unit up in `database`, the directory of the file, and
// goes by the file `config` alone, or where that is "" by none that it finds.
std::vector<std::string> tidy_command(const CompileUnit& unit, const std::string& tool,
                                      const std::string& database, const std::string& config);

// The files that a rule of make names as what its target is made of; as far as it can be read.
std::vector<std::string> parse_depfile(std::string_view text);

// Absolute, without "." and ".."; never looked up on the disk.
std::string absolute_path(std::string_view directory, std::string_view path);

}  // namespace quire::diagnostics

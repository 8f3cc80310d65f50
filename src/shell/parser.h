// The parser of bash scripts. It is strict: what it does not know is an error and not a guess, and
// what bash rejects it rejects.
//
// Recursive descent over bytes, with bash's own rules for what ends a word, where a reserved word is
// one, and where the text of a here-document stands. Aliases and extended globs, which bash -c does
// not have switched on, are not part of the grammar. O(script).
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "shell/syntax.h"

namespace quire::shell {

struct ParseLimits {
    std::size_t bytes = 256 << 10;
    std::size_t depth = 64;       // How deep commands stand in commands.
    std::size_t nodes = 100'000;  // Words and commands.
};

// Errors: invalid_argument "syntax_error" {line}; out_of_range "too_complex" {limit}.
Result<Script> parse(std::string_view script, const ParseLimits& limits = {});

}  // namespace quire::shell

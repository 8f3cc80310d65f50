// Regular expressions in the syntax of ECMA-262, as used by JSON Schema's `pattern`, run by RE2 in
// time linear in the text.
//
// A pattern is translated for RE2 character by character, so that every part keeps ECMA's meaning:
// \d and \w are ASCII, \s is not, $ is the very end, . excludes line breaks, \p has ECMA's names.
// It is read as with flag u, plus the escapes and lone brackets that are allowed without the flag.
// Constructs that no automaton can run are refused: back references, and lookaround other than
// lookaheads at the very beginning, ^(?=…)(?!…), which become patterns of their own (at most
// eight).
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace quire::text {

// A function that tells whether the pattern occurs anywhere in well-formed UTF-8. Copies share the
// pattern; usable from any thread.
//
// Errors: invalid_argument "invalid_regex" {offset} for text that is no regular expression;
// unsupported "unsupported_regex" {offset} for one that cannot be run, or needs more than 1 MB;
// out_of_range "too_large" {limit} beyond 4096 bytes.
Result<std::function<bool(std::string_view)>> ecma_pattern(std::string_view pattern);

}  // namespace quire::text

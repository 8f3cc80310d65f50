// Regular expressions as ECMA-262 writes them, which is what JSON Schema's `pattern` holds, run by
// RE2: in time linear in the text whatever the pattern.
//
// A pattern is rewritten for RE2 character by character, so that nothing means what it means to
// RE2 alone: \d and \w are ASCII, \s is not, $ is the very end, . is no line break, \p has the
// names of ECMA. Read as with the flag u, but with the escapes and lone brackets that are let pass
// without it. What no automaton can do is refused: references back to a group, and looking ahead or
// behind, but for lookaheads at the very beginning, ^(?=…)(?!…), which are patterns of their own
// (at most eight).
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace quire::text {

// Whether the pattern is found anywhere in well-formed UTF-8. Copies share it; any thread may call
// it.
//
// Errors: invalid_argument "invalid_regex" {offset} for what is no regular expression; unsupported
// "unsupported_regex" {offset} for what is one and cannot be run, or needs more than 1 MB;
// out_of_range "too_large" {limit} beyond 4096 bytes.
Result<std::function<bool(std::string_view)>> ecma_pattern(std::string_view pattern);

}  // namespace quire::text

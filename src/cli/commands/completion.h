// Shell completions: what may stand where the cursor is, read off the parser.
//
// The shells' scripts ask `quire complete` at each press of the key, so the words are those of this
// program, and labels, ids and actors those of the workspace. An option's value is never taken for
// the command, because the parser knows which options take one.
//
//     quire edit --actor human:tom pro
//           |                      |
//           |                      the last word, which is to be completed; it may be empty
//           the words before it: they give the command, its options and its arguments so far
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace quire::cli {

// One word that may stand there.
struct CompletedWord {
    std::string word;
    std::string description = {};
    friend bool operator==(const CompletedWord&, const CompletedWord&) = default;
};

struct Completions {
    std::vector<CompletedWord> words = {};
    bool files = false;        // The shell offers files too.
    bool directories = false;  // The shell offers directories too.
};

// The values of options that stand in the line already, by the options' long names.
using GivenOptions = std::map<std::string, std::string>;
// The words for a value of this type, as --help prints the type: LABEL, ACTOR, TOOL.
using ValueWords =
    std::function<std::vector<CompletedWord>(std::string_view type, const GivenOptions& given)>;

// The completions of the last of `words`, which follow the program's name; it may be "". Words in
// braces in a type's name, {a,b}, and the types FILE, PATH and DIR need no `values`.
Completions completions_of(const CLI::App& program, const std::vector<std::string>& words,
                           const ValueWords& values);

// The words of a line that is still being typed, as a shell reads it; the last may be "".
std::vector<std::string> words_of_line(std::string_view line);

// The script for "bash", "zsh" or "fish"; "" for an unknown shell.
std::string_view completion_script(std::string_view shell);

}  // namespace quire::cli

// Values of words in an abstract run: what a variable may hold, and what a word may expand to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quire::shell {

// A byte that stands for a run of characters that is not known, has no blank and no '/' in it, and is
// not empty: the digits of a counter, a name made at random.
inline constexpr char kSomeName = '\x01';
// A value with more texts than this is not known. It bounds the product that joined() makes.
inline constexpr std::size_t kMostValues = 16;
// joined() makes no longer texts. No path is that long, and a script can double a text in each line.
inline constexpr std::size_t kLongestText = 1 << 16;

// One of the texts, or where `why` is set anything at all. A value without texts and without `why`
// is one that is still being built: the first text replaces it.
struct Value {
    std::vector<std::string> texts;  // Sorted, each once, at most kMostValues.
    std::string why = {};            // Why it is not known.
    bool is_optional = false;        // A word that may not be there.
    bool is_many = false;            // Not known, and perhaps several words or none.

    bool is_known() const { return why.empty(); }
    friend bool operator==(const Value&, const Value&) = default;

    static Value of(std::string text) { return {{std::move(text)}}; }
    static Value unknown(std::string reason) { return {{}, std::move(reason)}; }
    static Value many(std::string reason) { return {{}, std::move(reason), false, true}; }
    // The only text that it can have; null if there are several.
    const std::string* single() const {
        return is_known() && texts.size() == 1 ? &texts.front() : nullptr;
    }
};
// The union of both. Not known if one of them is not, or if there are more than kMostValues texts.
Value either(const Value& one, const Value& other);
// Each text of one followed by each of the other. Not known under the same conditions as either(), or if a text
// would be longer than kLongestText.
Value joined(const Value& one, const Value& other);

// A word of a command, expanded. Its texts are alternatives.
using Arg = Value;

}  // namespace quire::shell

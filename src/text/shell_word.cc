// A word of harmless characters stays bare, so that commands read as people write them. Any other
// stands in single quotes, within which a shell changes nothing; a quote in the word ends them,
// stands escaped, and opens them again.
#include "text/shell_word.h"

#include <algorithm>
#include <cctype>

namespace quire::text {

std::string for_shell(std::string_view word) {
    const auto plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || c >= 0x80 ||
               std::string_view("/._-+@%,:=").find(static_cast<char>(c)) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
    std::string out = "'";
    for (const char c : word) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return out + "'";
}

}  // namespace quire::text

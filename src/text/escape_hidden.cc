// Text from files and models reaches terminals and other models. Characters that nobody sees could
// hide instructions there or steer the terminal, so they are shown as numbers. O(n), and a copy
// without a look at code points where all is printable ASCII.
#include "text/escape_hidden.h"

#include <algorithm>

#include "base/concat.h"
#include "base/hex.h"
#include "base/utf8.h"

namespace quire::text {
namespace {

// Returns true for code points that have no width, change the reading direction, or command a terminal.
bool is_hidden(char32_t point) {
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0xAD || point == 0x61C ||
           (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF ||
           (point >= 0xE0000 && point <= 0xE0FFF);
}

// A part of the hidden ones: controls, direction marks and separators of lines. Joiners are
// allowed, as words of some languages need them.
bool is_forbidden_in_name(char32_t point) {
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x61C || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

void add_number(std::string& out, char letter, char32_t number) {
    cat_to(out, cat("\\", letter, "{", hex_number(number), "}"));
}

// The length of the stretch of printable ASCII that the text begins with, of which most texts are
// made and of which no character needs a look at its code point.
std::size_t printable_ascii(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && text[at] >= 0x20 && text[at] < 0x7F) ++at;
    return at;
}

// Writes visible characters as they are and hidden ones as numbers.
void add_escaped(std::string& out, std::string_view valid) {
    for (std::size_t at = 0; at < valid.size();) {
        const std::size_t begin = at;
        at += printable_ascii(valid.substr(at));
        out += valid.substr(begin, at - begin);
        if (at == valid.size()) return;
        const std::size_t other = at;
        const char32_t point = utf8::decode(valid, at);
        if (is_hidden(point)) {
            add_number(out, 'u', point);
        } else {
            out += valid.substr(other, at - other);
        }
    }
}

}  // namespace

bool has_forbidden_in_name(std::string_view text) {
    for (std::size_t at = printable_ascii(text); at < text.size();) {
        if (is_forbidden_in_name(utf8::decode(text, at))) return true;
    }
    return false;
}

// Invalid bytes are escaped one by one, valid stretches as text.
std::string escape_hidden(std::string_view text) {
    if (printable_ascii(text) == text.size()) return std::string(text);
    std::string out;
    while (true) {
        const std::size_t valid = utf8::find_invalid(text).value_or(text.size());
        add_escaped(out, text.substr(0, valid));
        if (valid == text.size()) return out;
        add_number(out, 'x', static_cast<unsigned char>(text[valid]));
        text.remove_prefix(valid + 1);
    }
}

std::string escape_hidden_lines(std::string_view text) {
    std::string out;
    while (true) {
        const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
        out += escape_hidden(text.substr(0, end));
        if (end == text.size()) return out;
        out += text[end];
        text.remove_prefix(end + 1);
    }
}

}  // namespace quire::text

#include "base/utf8.h"
#include "seq/rope_impl.h"

namespace quire::seq {

TextSummary TextSummary::of(std::string_view text) {
    if (text.size() == 1) return {1, 1, 1, text[0] == '\n' ? 1U : 0U};
    TextSummary sum;
    sum.bytes = text.size();
    for (const char byte : text) {
        sum.code_points += utf8::is_boundary(byte) ? 1 : 0;
        sum.utf16 += static_cast<unsigned char>(byte) >= 0xF0 ? 1 : 0;
        sum.newlines += byte == '\n' ? 1 : 0;
    }
    sum.utf16 += sum.code_points;
    return sum;
}

TextSummary& TextSummary::operator+=(const TextSummary& other) {
    bytes += other.bytes;
    code_points += other.code_points;
    utf16 += other.utf16;
    newlines += other.newlines;
    return *this;
}

TextSummary& TextSummary::operator-=(const TextSummary& other) {
    bytes -= other.bytes;
    code_points -= other.code_points;
    utf16 -= other.utf16;
    newlines -= other.newlines;
    return *this;
}

template class BasicRope<1024, 16>;

}  // namespace quire::seq

#include "seq/rope.h"

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"

// TODO(perf): a flat string, so that the rooms above can be written; the B-tree replaces it.
namespace quire::seq {

Rope::Rope() = default;
Rope::Rope(std::string_view text) : text_(text) {}
Rope::Rope(const Rope&) = default;
Rope::Rope(Rope&&) noexcept = default;
Rope& Rope::operator=(const Rope&) = default;
Rope& Rope::operator=(Rope&&) noexcept = default;
Rope::~Rope() = default;

text::Byte Rope::bytes() const { return {text_.size()}; }
text::CodePoint Rope::code_points() const { return {utf8::count_code_points(text_)}; }
text::Utf16 Rope::utf16() const { return {utf8::count_utf16(text_)}; }
std::size_t Rope::newlines() const {
    return static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n'));
}
text::Line Rope::lines() const { return {newlines() + (empty() || ends_with_newline() ? 0 : 1)}; }
bool Rope::ends_with_newline() const { return !text_.empty() && text_.back() == '\n'; }
std::size_t Rope::crlfs() const {
    std::size_t count = 0;
    for (std::size_t i = 1; i < text_.size(); ++i) count += text_[i] == '\n' && text_[i - 1] == '\r';
    return count;
}

void Rope::insert(text::CodePoint at, std::string_view utf8) { text_.insert(to_byte(at).n, utf8); }
void Rope::erase(text::CodePoint at, text::CodePoint count) {
    const std::size_t begin = to_byte(at).n;
    text_.erase(begin, to_byte(at + count).n - begin);
}
void Rope::splice(text::Byte at, text::Byte erase, std::string_view insert) {
    CHECK(is_boundary(at) && is_boundary(at + erase));
    text_.replace(at.n, erase.n, insert);
}

bool Rope::is_boundary(text::Byte at) const {
    return at.n == text_.size() || (at.n < text_.size() && utf8::is_boundary(text_[at.n]));
}
text::Byte Rope::to_byte(text::CodePoint at) const {
    return {utf8::offset_of_code_point(text_, at.n)};
}
text::Byte Rope::to_byte(text::Utf16 at) const {
    std::size_t units = 0;
    std::size_t i = 0;
    while (i < text_.size()) {
        std::size_t next = i;
        const std::size_t wide = utf8::decode(text_, next) >= 0x10000 ? 2 : 1;
        if (units + wide > at.n) break;
        units += wide;
        i = next;
    }
    return {i};
}
text::CodePoint Rope::to_code_point(text::Byte at) const {
    const std::size_t count = utf8::count_code_points(std::string_view(text_).substr(0, at.n));
    return {is_boundary(at) ? count : count - 1};
}
text::Utf16 Rope::to_utf16(text::Byte at) const {
    return {utf8::count_utf16(std::string_view(text_).substr(0, to_byte(to_code_point(at)).n))};
}
text::Line Rope::to_line(text::Byte at) const {
    return {static_cast<std::size_t>(
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at.n), '\n'))};
}
text::Byte Rope::line_start(text::Line line) const {
    std::size_t i = 0;
    for (std::size_t k = 0; k < line.n; ++k) {
        const std::size_t end = text_.find('\n', i);
        if (end == std::string::npos) return bytes();
        i = end + 1;
    }
    return {i};
}

std::string Rope::str() const { return text_; }
std::string Rope::slice(text::Byte begin, text::Byte end) const {
    return text_.substr(begin.n, end.n - begin.n);
}
std::string Rope::line(text::Line line) const {
    return slice(line_start(line), line_start({line.n + 1}));
}
void Rope::for_each_chunk(text::Byte begin, text::Byte end,
                          Function<bool(std::string_view)> take) const {
    static_cast<void>(take(std::string_view(text_).substr(begin.n, end.n - begin.n)));
}
void Rope::check_invariants() const { CHECK(utf8::is_valid(text_)); }

}  // namespace quire::seq

// A rope knows its newlines and its "\r\n" by count, so a line is found in O(log n) and the kind of
// a text's line ends is known without reading it. Here stands what follows from that for text that
// is written: it takes the line ends of its neighbourhood.
#include "edits/lines.h"

#include <algorithm>

#include "base/utf8.h"

namespace quire::edits {

// Two bytes are enough to tell the terminators apart.
Eol terminator(const seq::Rope& text, text::Line line) {
    const std::size_t begin = text.line_start(line).n;
    const std::size_t end = text.line_start({line.n + 1}).n;
    const std::string tail = text.slice({std::max(begin, end < 2 ? 0 : end - 2)}, {end});
    if (!tail.ends_with('\n')) return Eol::none;
    return tail.ends_with("\r\n") ? Eol::crlf : Eol::lf;
}

Eol style_beside(const seq::Rope& text, text::Line line) {
    const std::size_t count = text.lines().n;
    // The line before may be the last one, without a newline; then look one line further back.
    for (std::size_t back = 1; back <= 2 && back <= line.n; ++back) {
        const Eol eol = terminator(text, {line.n - back});
        if (eol != Eol::none) return eol;
    }
    return line.n < count ? terminator(text, line) : Eol::none;
}

// Text in a pure LF block is left as it is: a "\r\n" there may be meant.
std::string in_style(std::string content, Eol style, const seq::Rope& text) {
    if (content.find('\n') == std::string::npos) return content;
    if (style == Eol::crlf) return to_crlf(content);
    const bool has_crlf = content.find("\r\n") != std::string::npos;
    if (style == Eol::lf && has_crlf && text.crlfs() > 0) return to_lf(content);
    return content;
}

// Without a style to follow the content's own line ends decide.
std::string_view newline_for(Eol style, std::string_view content) {
    if (style == Eol::crlf) return "\r\n";
    const std::size_t at = content.find('\n');
    const bool own_crlf = at != std::string_view::npos && at > 0 && content[at - 1] == '\r';
    return style == Eol::none && own_crlf ? "\r\n" : "\n";
}

std::string to_lf(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
        out += text[i];
    }
    return out;
}

// A '\n' that already follows a '\r' is kept as it is.
std::string to_crlf(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 16);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) out += '\r';
        out += text[i];
    }
    return out;
}

std::string_view without_terminator(std::string_view line) {
    if (!line.ends_with('\n')) return line;
    line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

// The bytes bound the code points, so most lines need no count.
bool cut_line(std::string& line, std::size_t columns) {
    const std::string_view body = without_terminator(line);
    if (body.size() <= columns) return false;  // No more code points than bytes.
    const std::string_view kept = utf8::prefix(body, columns);
    if (kept.size() == body.size()) return false;
    line.erase(kept.size(), body.size() - kept.size());
    return true;
}

// Lines that lie within one chunk are passed as views; only a line across chunks is copied.
void for_each_line(const seq::Rope& text, text::LineRange range,
                   Function<bool(text::Line, std::string_view)> take) {
    const text::Byte begin = text.line_start(range.begin);
    const text::Byte end = text.line_start(range.end);
    if (begin >= end) return;

    text::Line line = range.begin;
    std::string carried;  // The part of a line from earlier chunks.
    bool going = true;
    text.for_each_chunk(begin, end, [&](std::string_view chunk) {
        while (going && !chunk.empty()) {
            const std::size_t newline = chunk.find('\n');
            if (newline == std::string_view::npos) {
                carried.append(chunk);
                return true;
            }
            const std::string_view rest = chunk.substr(0, newline + 1);
            chunk.remove_prefix(newline + 1);
            if (carried.empty()) {
                going = take(line, rest);
            } else {
                carried.append(rest);
                going = take(line, carried);
                carried.clear();
            }
            ++line.n;
        }
        return going;
    });
    if (going && !carried.empty()) take(line, carried);
}

}  // namespace quire::edits

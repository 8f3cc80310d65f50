// A model streams its text in pieces of a few characters. Each piece would be a change of its own,
// with its record in the store and its news to followers; gathered by line or by pause they are a
// few. Nothing is lost by waiting for longer, but a reader sees the text later.
#include "conversation/append_buffer.h"

#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace quire::conversation {

void AppendBuffer::add(std::string_view text, std::int64_t now_ms, const policy::Actor& writer) {
    CHECK(!blocks(writer));
    // An empty append must not put the deadline off, nor make its caller the buffer's writer.
    if (text.empty()) return;
    writer_ = writer;
    text_.append(text);
    code_points_ += utf8::count_code_points(text);
    newline_ = newline_ || text.find('\n') != std::string_view::npos;
    last_ms_ = now_ms;
}

bool AppendBuffer::due(std::int64_t now_ms) const {
    if (empty()) return false;
    return newline_ || code_points_ >= limits_.code_points ||
           now_ms - last_ms_ >= limits_.silence_ms;
}

std::optional<std::int64_t> AppendBuffer::deadline_ms() const {
    if (empty()) return std::nullopt;
    return last_ms_ + limits_.silence_ms;
}

std::optional<AppendBuffer::Taken> AppendBuffer::take() {
    if (empty()) return std::nullopt;
    code_points_ = 0;
    newline_ = false;
    return Taken{writer_, std::exchange(text_, std::string())};
}

}  // namespace quire::conversation

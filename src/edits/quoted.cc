#include "edits/quoted.h"

#include <algorithm>

#include "base/utf8.h"

namespace quire::edits {

namespace {

constexpr std::size_t kBytes = 64 << 10;

}  // namespace

// Cutting may hit a code point; its first bytes are dropped.
Quoted quoted(const seq::Rope& text, text::Byte begin, text::Byte end) {
    std::string part = text.slice(begin, {std::min(end.n, begin.n + kBytes)});
    // Removes at most the three bytes of a cut code point.
    while (!utf8::is_valid(part)) part.pop_back();
    const bool whole = part.size() == end.n - begin.n;
    return {std::move(part), whole};
}

}  // namespace quire::edits

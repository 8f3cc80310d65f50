// The state of a text: its characters, and spans that say which atoms they are and where styles
// begin and end. What was deleted has left no trace, but for the anchors of styles.
//
//   uleb size, UTF-8 text
//   peers (state_columns.h)
//   uleb 3 (three fields)
//   uleb 4 (four columns), then a row for each span:
//       the atoms' columns
//       length     DeltaRle  > 0 so many code points; 0 a style begins; -1 it ends
//   uleb count, then the styles' keys: uleb size, UTF-8
//   uleb count, then for each span that begins a style:
//       uleb 3 (fields in a row)
//       uleb index of the key
//       value (state_value.h)
//       byte info
//
// A style's end is the atom after its start. Either may stand alone, in its place, and styles
// nothing: history may be cut between the two, and a program may delete one of them. Loro writes an
// end that stands alone, and cannot read it; so we write it as a start (document_snapshot.cc).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/state_columns.h"

namespace quire::codec {

inline constexpr std::int32_t kStyleStart = 0;
inline constexpr std::int32_t kStyleEnd = -1;

struct TextSpan {
    StampedId first;
    std::int32_t length = 0;  // In code points, or kStyleStart or kStyleEnd.
    friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

struct TextStyle {
    std::string key;
    Value value;
    std::uint8_t info = 0;  // As in crdt::StyleStart.
    friend bool operator==(const TextStyle&, const TextStyle&) = default;
};

struct TextState {
    std::string text;
    std::vector<TextSpan> spans;    // All of the text, in order.
    std::vector<TextStyle> styles;  // One for each span that begins a style, in order.
    friend bool operator==(const TextState&, const TextState&) = default;
};

// Failures go to `in`, which has to be used up. Spans are as they came, not joined.
TextState read_text_state(ByteReader& in, Budget& budget);
void write_text_state(ByteWriter& out,
                      const TextState& state);  // CHECKs that there is a style for each start.

}  // namespace quire::codec

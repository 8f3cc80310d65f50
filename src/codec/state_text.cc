// A text in one piece, then spans that say which atoms its characters are, and where styles begin
// and end.
//
// Lengths of spans are checked against the text at the end, and the number of starts against the
// styles: each says how often the other has to occur. Ends are not matched with starts here, since
// either may stand alone (state_text.h).
#include "codec/state_text.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/utf8.h"
#include "base/varint.h"

namespace quire::codec {
namespace {

// Keys are read as views and charged once more for each style that copies one.
void read_styles(ByteReader& in, std::vector<TextStyle>& styles, Budget& budget) {
    const std::uint64_t key_count = read_uleb(in, in.remaining(), "number of style keys");
    if (!budget.take_heap(key_count * sizeof(std::string_view))) in.fail("number of style keys");
    std::vector<std::string_view> keys;
    if (in.ok()) keys.reserve(key_count);
    for (std::uint64_t i = 0; i < key_count && in.ok(); ++i)
        keys.push_back(read_utf8(in, "key of a style"));

    constexpr std::size_t kSmallestStyle = 4;
    const std::uint64_t count = read_uleb(in, in.remaining() / kSmallestStyle, "number of styles");
    if (!budget.take_heap(count * sizeof(TextStyle))) in.fail("number of styles");
    if (in.ok()) styles.reserve(count);
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        expect_shape(in, 3, "shape of a style");
        const std::uint64_t key = read_uleb(in, "key of a style");
        if (key >= keys.size()) in.fail("key of a style");
        if (!in.ok()) return;
        if (!budget.take_string(keys[key].size()))
            in.fail("key of a style (too large for its input)");
        if (!in.ok()) return;
        TextStyle& style = styles.emplace_back();
        style.key = keys[key];
        style.value = read_state_value(in, budget);
        style.info = in.byte("info of a style");
    }
}

// Spans cover the text, and no atom is there twice.
void verify(ByteReader& in, const TextState& state, Budget& budget) {
    const std::size_t scratch = state.spans.size() * AtomRuns::kScratch;
    if (!budget.take_heap(scratch)) return in.fail("spans of a text (too many for their size)");
    std::size_t left = utf8::count_code_points(state.text);
    std::size_t starts = 0;
    AtomRuns runs;
    for (const TextSpan& span : state.spans) {
        // An anchor is one atom, whatever its length says.
        runs.add(span.first.id, std::max(span.length, 1));
        const crdt::OpId id = span.first.id;
        if (span.length > 0) {
            const auto length = static_cast<std::size_t>(span.length);
            if (length > left || span.length - 1 > kMaxCounter - id.counter)
                return in.fail("length of a span");
            left -= length;
        } else if (span.length == kStyleStart) {
            ++starts;
        } else if (id.counter == 0) {
            return in.fail("end of a style (as its peer's first atom)");
        }
    }
    if (left != 0) return in.fail("spans of a text (they do not cover it)");
    if (starts != state.styles.size()) return in.fail("number of styles");
    if (runs.overlap()) in.fail("spans of a text (an atom is there twice)");
    budget.give_back(scratch);
}

}  // namespace

TextState read_text_state(ByteReader& in, Budget& budget) {
    TextState state;
    const std::string_view text = read_utf8(in, "text");
    if (!budget.take_string(text.size())) in.fail("text (too large for its input)");
    if (!in.ok()) return state;
    state.text = text;
    const std::vector<crdt::PeerId> peers = read_state_peers(in, budget);
    expect_shape(in, 3, "shape of a text's state");
    expect_shape(in, 4, "shape of a text's spans");
    AtomReader atoms(in, peers);
    ByteReader lengths_in = read_column(in, "lengths of spans");
    DeltaRleReader lengths(lengths_in, kStyleEnd, kMaxCounter, "length of a span");
    if (budget.take_heap(atoms.guessed_count() * sizeof(TextSpan)))
        state.spans.reserve(atoms.guessed_count());
    std::array<std::int32_t, AtomReader::kBulk> sizes;
    while (in.ok() && lengths_in.ok()) {
        const std::size_t count = atoms.read();
        if (count == 0) break;
        if (lengths.read(sizes) != count) lengths_in.fail("number of spans");
        bool fits = true;
        for (std::size_t i = 0; i < count && fits; ++i) {
            fits = budget.grow(state.spans);
            if (fits) state.spans.push_back({atoms.atom(i), sizes[i]});
        }
        if (!fits) {
            in.fail("spans of a text (too many for their size)");
            break;
        }
    }
    if (lengths_in.ok() && atoms.ok() && !lengths.at_end()) lengths_in.fail("number of spans");
    in.adopt(lengths_in);
    atoms.finish(in);
    read_styles(in, state.styles, budget);
    if (!in.at_end()) in.fail("end of a text's state");
    if (in.ok()) verify(in, state, budget);
    return state;
}

void write_text_state(ByteWriter& out, const TextState& state) {
    write_sized(out, state.text);
    Register<crdt::PeerId> peers;
    AtomWriter atoms(peers);
    ByteWriter lengths_out;
    DeltaRleWriter lengths(lengths_out);
    std::size_t starts = 0;
    for (const TextSpan& span : state.spans) {
        atoms.append(span.first);
        lengths.append(span.length);
        if (span.length == kStyleStart) ++starts;
    }
    lengths.finish();
    CHECK(starts == state.styles.size());

    write_state_peers(out, peers);
    write_uleb(out, 3);
    write_uleb(out, 4);
    atoms.write_columns(out);
    write_sized(out, lengths_out.bytes());

    Register<std::string_view> keys;
    for (const TextStyle& style : state.styles) keys.add(style.key);
    write_uleb(out, keys.items().size());
    for (const std::string_view key : keys.items()) write_sized(out, key);
    write_uleb(out, state.styles.size());
    for (const TextStyle& style : state.styles) {
        write_uleb(out, 3);
        write_uleb(out, keys.add(style.key));
        write_state_value(out, style.value);
        out.byte(style.info);
    }
}

}  // namespace quire::codec

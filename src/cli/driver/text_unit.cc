// Conversions that refuse what does not exist: the rope itself clamps a position beyond the end and
// rounds one within a code point, which would edit another place than the client meant.
#include "cli/driver/text_unit.h"

#include "base/concat.h"

namespace quire::cli {

Result<text::CodePoint> code_point(const seq::Rope& rope, std::size_t position, TextUnit unit) {
    const auto checked = [&](std::size_t length, bool on_boundary,
                             text::CodePoint at) -> Result<text::CodePoint> {
        if (position > length) {
            return fail(Errc::out_of_range, "out_of_bound",
                        cat("position ", position, " is past the end, ", length));
        }
        if (!on_boundary) {
            return invalid("position_not_on_boundary",
                           cat("position ", position, " is inside a character"));
        }
        return at;
    };
    switch (unit) {
        case TextUnit::unicode:
            return checked(rope.code_points().n, true, {position});
        // A position between two surrogates comes back as another number.
        case TextUnit::utf16: {
            const std::size_t length = rope.utf16().n;
            if (position > length) return checked(length, true, {});
            const text::Byte at = rope.to_byte(text::Utf16{position});
            return checked(length, rope.to_utf16(at).n == position, rope.to_code_point(at));
        }
        case TextUnit::utf8: {
            const std::size_t length = rope.bytes().n;
            if (position > length) return checked(length, true, {});
            return checked(length, rope.is_boundary({position}),
                           rope.to_code_point(text::Byte{position}));
        }
    }
    return invalid("invalid_argument", "`unit` must be unicode, utf16 or utf8");
}

std::size_t in_unit(const seq::Rope& rope, text::CodePoint at, TextUnit unit) {
    switch (unit) {
        case TextUnit::unicode:
            return at.n;
        case TextUnit::utf16:
            return rope.to_utf16(rope.to_byte(at)).n;
        case TextUnit::utf8:
            return rope.to_byte(at).n;
    }
    return at.n;
}

}  // namespace quire::cli

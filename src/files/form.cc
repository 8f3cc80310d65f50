// Two properties stand between a file's bytes and a text: the byte order mark, which is taken off
// and put back, and the charset. Everything else, line ends included, is content.
//
// A charset other than UTF-8 is proved for each file: its text is converted back, and must give the
// same bytes. The proof costs as much as the conversion, and saves from rewriting lines that nobody
// edited where a charset has two codes for one character.

#include "files/form.h"

#include <algorithm>
#include <charconv>

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::files {
namespace {

using text::Charset;

// The part of a file in which a NUL says that it is no text at all, whatever its encoding.
constexpr std::size_t kHead = 8192;

struct Mark {
    std::string_view bytes;
    Charset charset;
};
constexpr Mark kMarks[] = {{"\xEF\xBB\xBF", Charset::utf_8},
                           {"\xFF\xFE", Charset::utf_16le},
                           {"\xFE\xFF", Charset::utf_16be}};

std::string_view mark_of(Charset charset) {
    const auto mark = std::ranges::find(kMarks, charset, &Mark::charset);
    return mark == std::end(kMarks) ? std::string_view() : mark->bytes;
}

Failure binary(std::string_view path, std::size_t offset) {
    return fail(Errc::unsupported, "binary_file",
                cat(path, " is not text: the byte at ", offset, " is a NUL. It was not changed"),
                {{"offset", offset}});
}

Failure not_in(std::string_view path, Charset charset, std::size_t offset) {
    return fail(Errc::unsupported, "unsupported_encoding",
                cat(path, " is not text in ", name_of(charset), ": the byte at ", offset,
                    " cannot be read and written back. It was not changed. A person can name its "
                    "encoding in its rule in quire.toml"),
                {{"offset", offset}, {"encoding", name_of(charset)}});
}

// The index of the first difference between two texts.
std::size_t first_difference(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// The text of bytes without their mark, which are `skipped` bytes into the file.
Result<std::string> text_in(Charset charset, std::string_view bytes, std::size_t skipped,
                            std::string_view path) {
    auto text = to_utf8(charset, bytes);
    if (!text) return not_in(path, charset, skipped + text.error().offset);
    const auto back = from_utf8(charset, *text);
    if (!back || *back != bytes)
        return not_in(path, charset,
                      skipped + first_difference(bytes, back ? *back : std::string_view()));
    if (const std::size_t nul = text->find('\0'); nul != std::string::npos)
        return binary(path, skipped + from_utf8(charset, text->substr(0, nul))->size());
    return std::move(*text);
}

Failure lacks(std::string_view path, Charset charset, std::string_view text, std::size_t offset) {
    std::size_t end = offset;
    const char32_t code_point = utf8::decode(text, end);
    char digits[8];
    const auto length = static_cast<std::size_t>(
        std::to_chars(digits, digits + sizeof digits, std::uint32_t{code_point}, 16).ptr - digits);
    std::string hex(std::max<std::size_t>(4, length) - length, '0');
    for (const char c : std::string_view(digits, length))
        hex.push_back(c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c);
    const std::string_view character = text.substr(offset, end - offset);
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset),
                                 '\n') +
                      1;
    return fail(Errc::unsupported, "unsupported_encoding",
                cat(path, " was not saved: line ", line, " has the character '", character,
                    "' (U+", hex, "), which ", name_of(charset),
                    ", the file's encoding, cannot write. Write it with other characters"),
                {{"character", character}, {"line", line}, {"encoding", name_of(charset)}});
}

}  // namespace

Result<Decoded> decode(std::string bytes, std::string_view path, std::optional<Charset> declared) {
    Decoded decoded;
    for (const Mark& mark : kMarks) {
        if (!bytes.starts_with(mark.bytes)) continue;
        if (mark.charset == Charset::utf_8) {
            decoded.form.bom = true;
            break;
        }
        const std::string_view rest = std::string_view(bytes).substr(mark.bytes.size());
        return Decoded{{mark.charset, true}, TRY(text_in(mark.charset, rest, mark.bytes.size(), path))};
    }
    // UTF-8 without a NUL is what nearly every file is, whatever a rule declares, and its bytes are
    // the text as they are.
    const std::optional<std::size_t> bad = utf8::find_invalid(bytes);
    const std::size_t nul = bytes.find('\0');
    if (!bad && nul == std::string::npos) {
        if (decoded.form.bom) bytes.erase(0, kMarks[0].bytes.size());
        decoded.text = std::move(bytes);
        return decoded;
    }
    // UTF-16 without a mark is full of NULs, so they say nothing where a rule declares it.
    // Otherwise a NUL means that the file is no text: anywhere in UTF-8, and near the front of
    // other bytes.
    const bool is_wide = declared == Charset::utf_16le || declared == Charset::utf_16be;
    if (!is_wide && nul != std::string::npos && (!bad || nul < kHead)) return binary(path, nul);
    if (declared && declared != Charset::utf_8)
        return Decoded{{*declared, false}, TRY(text_in(*declared, bytes, 0, path))};
    return fail(Errc::unsupported, "unsupported_encoding",
                cat(path, " is neither UTF-8 nor UTF-16 with a byte order mark: the byte at ", *bad,
                    " is no text. It was not changed. A person can name its encoding in its rule "
                    "in quire.toml, such as encoding = \"latin-1\""),
                {{"offset", *bad}});
}

Result<std::string> encode(const Form& form, std::string text, std::string_view path) {
    if (const std::size_t nul = text.find('\0'); nul != std::string::npos) return binary(path, nul);
    const std::string_view mark = form.bom ? mark_of(form.charset) : std::string_view();
    if (form.charset == Charset::utf_8) {
        text.insert(0, mark);
        return text;
    }
    auto bytes = from_utf8(form.charset, text);
    if (!bytes) return lacks(path, form.charset, text, bytes.error().offset);
    bytes->insert(0, mark);
    // Bytes that happen to be UTF-8 would be read as that the next time.
    const Result<Decoded> back = decode(*bytes, path, form.charset);
    if (!back || back->text != text)
        return fail(Errc::unsupported, "unsupported_encoding",
                    cat(path, " was not saved: the bytes of this text in ", name_of(form.charset),
                        ", the file's encoding, would be read back as another text"),
                    {{"encoding", name_of(form.charset)}});
    return std::move(*bytes);
}

}  // namespace quire::files

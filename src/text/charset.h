// Charsets: the encodings of text other than UTF-8, converted to it and back by the C library's
// iconv. Nothing is guessed or replaced: what cannot be converted is an error with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/enum_words.h"

namespace quire::text {

// Their numbers are stored (files/disk_state.h): new ones go to the end.
enum class Charset : std::uint8_t {
    utf_8,
    utf_16le,
    utf_16be,
    latin_1,
    iso_8859_2,
    iso_8859_3,
    iso_8859_4,
    iso_8859_5,
    iso_8859_6,
    iso_8859_7,
    iso_8859_8,
    iso_8859_9,
    iso_8859_10,
    iso_8859_11,
    iso_8859_13,
    iso_8859_14,
    iso_8859_15,
    iso_8859_16,
    windows_874,
    windows_1250,
    windows_1251,
    windows_1252,
    windows_1253,
    windows_1254,
    windows_1255,
    windows_1256,
    windows_1257,
    windows_1258,
    koi8_r,
    koi8_u,
    ibm437,
    ibm850,
    ibm866,
    macintosh,
    shift_jis,
    euc_jp,
    euc_kr,
    gb18030,
    big5,
};
constexpr auto words_of(Charset) {
    return word_table("utf-8", "utf-16le", "utf-16be", "latin-1", "iso-8859-2", "iso-8859-3",
                      "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8",
                      "iso-8859-9", "iso-8859-10", "iso-8859-11", "iso-8859-13", "iso-8859-14",
                      "iso-8859-15", "iso-8859-16", "windows-874", "windows-1250", "windows-1251",
                      "windows-1252", "windows-1253", "windows-1254", "windows-1255",
                      "windows-1256", "windows-1257", "windows-1258", "koi8-r", "koi8-u", "ibm437",
                      "ibm850", "ibm866", "macintosh", "shift_jis", "euc-jp", "euc-kr", "gb18030",
                      "big5");
}

// The charset with this name, in any case and with `-`, `_` or nothing between its words; usual
// other names are known too ("iso-8859-1", "cp1252", "latin9", "sjis"). Errors: invalid_argument
// "unknown_encoding"; the message lists the names.
Result<Charset> parse_charset(std::string_view name);

// The byte at which a conversion stopped, counted in what was to be converted.
struct Unconvertible {
    std::size_t offset = 0;
};
template <class T>
using Converted = tl::expected<T, Unconvertible>;

// The text of the bytes, in UTF-8. O(n).
Converted<std::string> to_utf8(Charset from, std::string_view bytes);
// The bytes of well-formed UTF-8. O(n).
Converted<std::string> from_utf8(Charset to, std::string_view text);

}  // namespace quire::text

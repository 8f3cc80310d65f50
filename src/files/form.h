// Converting between a file's bytes and a document's text. Reading and writing back unchanged
// yields the same bytes: line ends and a missing final newline are content, and what a text cannot
// hold is kept in the Form.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/charset.h"

namespace quire::files {

// The properties of a file beside its text.
struct Form {
    text::Charset charset = text::Charset::utf_8;
    bool bom = false;  // A byte order mark at the front: of UTF-8 or UTF-16.
    friend bool operator==(const Form&, const Form&) = default;
};

// A file's text with its form.
struct Decoded {
    Form form;
    std::string text;
};

// UTF-8, or UTF-16 with a byte order mark; all else only in the charset that a rule declares for
// the path. Encoding the result gives the same bytes, or decode() refuses. O(n).
//
// Errors: unsupported "binary_file" {offset} for a NUL; unsupported "unsupported_encoding" {offset,
// encoding?} for other bytes that are no text in these encodings.
Result<Decoded> decode(std::string bytes, std::string_view path,
                       std::optional<text::Charset> declared = std::nullopt);
// The bytes of a file of this form. O(n).
//
// Errors: unsupported "binary_file" {offset} for a NUL, with which the file could not be read back;
// unsupported "unsupported_encoding" {encoding} for bytes that would be read back as another text,
// with {character, line} for a character that the charset lacks.
Result<std::string> encode(const Form& form, std::string text, std::string_view path);

}  // namespace quire::files

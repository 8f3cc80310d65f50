// Converting between a file's bytes and a document's text. Reading and writing back unchanged
// yields the same bytes: line ends and a missing final newline are content, and what a text cannot
// hold is kept in the Form.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace quire::files {

// The properties of a file beside its text.
struct Form {
    bool bom = false;  // EF BB BF at the front.
    friend bool operator==(const Form&, const Form&) = default;
};

// A file's text with its form.
struct Decoded {
    Form form;
    std::string text;
};

// Errors: unsupported "binary_file" {offset} for bytes that are not UTF-8 or contain a NUL.
Result<Decoded> decode(std::string bytes, std::string_view path);
std::string encode(const Form& form, std::string text);

}  // namespace quire::files

// Between a file's bytes and a document's text. Reading and writing back unchanged is the identity
// on bytes: line ends and a missing final newline are content, and what a text cannot hold is kept
// aside.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace quire::files {

// What a file has beside its text.
struct Form {
    bool bom = false;  // EF BB BF at the front.
    friend bool operator==(const Form&, const Form&) = default;
};

struct Decoded {
    Form form;
    std::string text;
};

// Errors: unsupported "binary_file" {offset} for bytes that are not UTF-8, or hold a NUL.
Result<Decoded> decode(std::string bytes, std::string_view path);
std::string encode(const Form& form, std::string text);

}  // namespace quire::files

// Only two properties stand between a file's bytes and a text: the byte order mark, which is taken
// off and put back, and the encoding, which must be UTF-8 without NUL. Everything else, line ends
// included, is content.

#include "files/form.h"

#include <algorithm>
#include <optional>

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::files {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

}  // namespace

// The byte order mark is kept in the form; the rest must be text.
Result<Decoded> decode(std::string bytes, std::string_view path) {
    std::optional<std::size_t> bad = utf8::find_invalid(bytes);
    const std::size_t nul = bytes.find('\0');
    if (nul != std::string::npos) bad = std::min(bad.value_or(nul), nul);
    if (bad) {
        Map details;
        details.set("offset", *bad);
        return fail(Errc::unsupported, "binary_file",
                    cat(path, " is not text: the byte at ", *bad, " is ",
                        *bad == nul ? "a NUL" : "not UTF-8", ". It was not changed"),
                    std::move(details));
    }
    Decoded decoded;
    decoded.form.bom = bytes.starts_with(kBom);
    if (decoded.form.bom) bytes.erase(0, kBom.size());
    decoded.text = std::move(bytes);
    return decoded;
}

std::string encode(const Form& form, std::string text) {
    if (form.bom) text.insert(0, kBom);
    return text;
}

}  // namespace quire::files

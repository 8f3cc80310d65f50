#include "files/form.h"

#include <algorithm>
#include <optional>

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::files {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

}  // namespace

Result<Decoded> decode(std::string bytes, std::string_view path) {
    std::optional<std::size_t> bad = utf8::find_invalid(bytes);
    const std::size_t nul = bytes.find('\0');
    if (nul != std::string::npos) bad = std::min(bad.value_or(nul), nul);
    if (bad) {
        Map details;
        details.set("offset", *bad);
        return fail(Errc::unsupported, "binary_file",
                    cat(path, " is not text: the byte at ", *bad, " is ",
                        *bad == nul ? "a NUL" : "not UTF-8", ". It was left as it is"),
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

// A patch and a text, with a line "=== text" between them. A patch that is read and fits gives
// splices that ascend within the text; anything else is refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "edits/patch.h"
#include "edits/splice_diff.h"

using namespace quire;
using namespace quire::edits;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::string_view kText = "=== text\n";
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t at = input.find(kText);
    const auto files = parse_patch(input.substr(0, at));
    const std::string_view content =
        at == std::string_view::npos ? std::string_view() : input.substr(at + kText.size());
    if (!files || !utf8::is_valid(content)) return 0;
    const seq::Rope before(content);
    for (const FilePatch& file : *files) {
        const auto planned = plan_patch(file, before, Numbering::one_inclusive);
        if (!planned) continue;
        CHECK(planned->hunks.size() == file.hunks.size());
        std::size_t free = 0;
        for (const text::Splice& splice : planned->splices) {
            CHECK(free <= splice.at.n && utf8::is_valid(splice.insert));
            free = splice.at.n + splice.erase.n;
            CHECK(free <= content.size() && before.is_boundary(splice.at) &&
                  before.is_boundary({free}));
        }
        static_cast<void>(splice_diff(before, planned->splices, {}));
    }
    return 0;
}

// text.*: positions and lengths in the unit that the request names.
//
// Positions are converted to code points before the text changes. text.update turns the text into
// another one by the fewest insertions and deletions, so that concurrent edits of others merge
// well.
#include "crdt/doc/text.h"

#include <array>

#include "cli/driver/operation.h"
#include "cli/driver/text_unit.h"
#include "cli/driver/view_argument.h"
#include "text/diff.h"

namespace quire::cli {
namespace {

using crdt::TextView;
using seq::Rope;

Result<void> text_insert(TextView view, const std::string& inserted, std::size_t position,
                         TextUnit unit) {
    return view.insert(TRY(code_point(view.rope(), position, unit)), inserted);
}

Result<void> text_erase(TextView view, std::size_t position, std::size_t length, TextUnit unit) {
    const text::CodePoint begin = TRY(code_point(view.rope(), position, unit));
    const text::CodePoint end = TRY(code_point(view.rope(), position + length, unit));
    return view.erase(begin, end - begin);
}

// All splices refer to the old text.
Result<void> text_update(TextView view, const std::string& wanted) {
    const std::vector<text::Splice> splices = text::fewest_splices(view.rope().str(), wanted);
    // Applied last to first, so that the earlier positions stay valid.
    for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice) {
        const text::CodePoint begin = view.rope().to_code_point(splice->at);
        const text::CodePoint end = view.rope().to_code_point(splice->at + splice->erase);
        if (begin != end) TRY(view.erase(begin, end - begin));
        if (!splice->insert.empty()) TRY(view.insert(begin, splice->insert));
    }
    return {};
}

Result<std::string> text_string(const TextView& view) {
    return view.rope().str();
}

Result<Map> text_length(const TextView& view) {
    const Rope& rope = view.rope();
    return Map{
        {"unicode", rope.code_points().n}, {"utf16", rope.utf16().n}, {"utf8", rope.bytes().n}};
}

constexpr std::array kTextOps = {
    engine_op<text_insert>("text.insert", "text", "pos", "unit"),
    engine_op<text_erase>("text.delete", "pos", "len", "unit"),
    engine_op<text_update>("text.update", "text"),
    engine_op<text_string>("text.string"),
    engine_op<text_length>("text.len"),
};

}  // namespace

std::span<const EngineOp> engine_text_ops() {
    return kTextOps;
}

}  // namespace quire::cli

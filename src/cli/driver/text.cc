// text.*: positions and lengths in the unit that the request names.
#include <array>

#include "base/concat.h"
#include "cli/driver/session.h"
#include "cli/driver/text_unit.h"
#include "text/diff.h"

namespace quire::cli {
namespace {

using crdt::ContainerKind;
using seq::Rope;

Result<Value> text_insert(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, ContainerKind::text));
    const std::string inserted = TRY(request.text("text"));
    const std::size_t position = TRY(request.size("pos"));
    const TextUnit unit = TRY(unit_of(request));
    const text::CodePoint at = TRY(code_point(rope_of(target), position, unit));
    TRY(target.doc.text(target.handle).insert(at, inserted));
    return Value(true);
}

Result<Value> text_erase(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, ContainerKind::text));
    const std::size_t position = TRY(request.size("pos"));
    const std::size_t length = TRY(request.size("len"));
    const TextUnit unit = TRY(unit_of(request));
    const text::CodePoint begin = TRY(code_point(rope_of(target), position, unit));
    const text::CodePoint end = TRY(code_point(rope_of(target), position + length, unit));
    TRY(target.doc.text(target.handle).erase(begin, end - begin));
    return Value(true);
}

Result<Value> text_update(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, ContainerKind::text));
    const std::string wanted = TRY(request.text("text"));
    const std::vector<text::Splice> splices = text::fewest_splices(rope_of(target).str(), wanted);
    // Applied last to first, so that the earlier positions stay valid.
    for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice) {
        const text::CodePoint begin = rope_of(target).to_code_point(splice->at);
        const text::CodePoint end = rope_of(target).to_code_point(splice->at + splice->erase);
        if (begin != end) TRY(target.doc.text(target.handle).erase(begin, end - begin));
        if (!splice->insert.empty())
            TRY(target.doc.text(target.handle).insert(begin, splice->insert));
    }
    return Value(true);
}

Result<Value> text_string(EngineDocuments& documents, const EngineRequest& request) {
    return Value(rope_of(TRY(documents.target(request, ContainerKind::text))).str());
}

Result<Value> text_length(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, ContainerKind::text));
    const Rope& rope = rope_of(target);
    return Value(Map{
        {"unicode", rope.code_points().n}, {"utf16", rope.utf16().n}, {"utf8", rope.bytes().n}});
}

constexpr std::array kTextOps = {
    EngineOp{"text.insert", text_insert}, EngineOp{"text.delete", text_erase},
    EngineOp{"text.update", text_update}, EngineOp{"text.string", text_string},
    EngineOp{"text.len", text_length},
};

}  // namespace

std::span<const EngineOp> engine_text_ops() {
    return kTextOps;
}

}  // namespace quire::cli

// text.*: positions and lengths in the unit that the request names.
#include <array>

#include "base/cat.h"
#include "cli/engine/session.h"
#include "text/diff.h"

namespace quire::cli {
namespace {

using crdt::ContainerKind;
using seq::Rope;

enum class TextUnit { unicode, utf16, utf8 };

Result<TextUnit> unit_of(const EngineRequest& request) {
    const std::string name = TRY(request.text_or("unit", "unicode"));
    if (name == "unicode") return TextUnit::unicode;
    if (name == "utf16") return TextUnit::utf16;
    if (name == "utf8") return TextUnit::utf8;
    return invalid("invalid_argument", "`unit` must be unicode, utf16 or utf8");
}

// Errors: out_of_range "out_of_bound"; invalid_argument "position_not_on_boundary".
Result<text::CodePoint> code_point(const Rope& rope, std::size_t position, TextUnit unit) {
    const auto checked = [&](std::size_t length, bool on_boundary,
                             text::CodePoint at) -> Result<text::CodePoint> {
        if (position > length) {
            return fail(Errc::out_of_range, "out_of_bound",
                        cat("position ", position, " is past the end, ", length));
        }
        if (!on_boundary) {
            return invalid("position_not_on_boundary",
                           cat("position ", position, " is inside a character"));
        }
        return at;
    };
    switch (unit) {
        case TextUnit::unicode:
            return checked(rope.code_points().n, true, {position});
        case TextUnit::utf16: {
            const std::size_t length = rope.utf16().n;
            if (position > length) return checked(length, true, {});
            const text::Byte at = rope.to_byte(text::Utf16{position});
            return checked(length, rope.to_utf16(at).n == position, rope.to_code_point(at));
        }
        case TextUnit::utf8: {
            const std::size_t length = rope.bytes().n;
            if (position > length) return checked(length, true, {});
            return checked(length, rope.is_boundary({position}),
                           rope.to_code_point(text::Byte{position}));
        }
    }
    return invalid("invalid_argument", "`unit` must be unicode, utf16 or utf8");
}

struct TextTarget {
    crdt::Doc& doc;
    crdt::Handle handle;
    const Rope& rope() const { return doc.text(handle); }
};

Result<TextTarget> target_of(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const crdt::ContainerId id = TRY(request.container("cid", ContainerKind::text));
    return TextTarget{document->doc, document->doc.open(id)};
}

Result<Value> insert(EngineDocuments& documents, const EngineRequest& request) {
    const TextTarget target = TRY(target_of(documents, request));
    const std::string inserted = TRY(request.text("text"));
    const std::size_t position = TRY(request.size("pos"));
    const TextUnit unit = TRY(unit_of(request));
    const text::CodePoint at = TRY(code_point(target.rope(), position, unit));
    TRY(target.doc.text_insert(target.handle, at, inserted));
    return Value(true);
}

Result<Value> erase(EngineDocuments& documents, const EngineRequest& request) {
    const TextTarget target = TRY(target_of(documents, request));
    const std::size_t position = TRY(request.size("pos"));
    const std::size_t length = TRY(request.size("len"));
    const TextUnit unit = TRY(unit_of(request));
    const text::CodePoint begin = TRY(code_point(target.rope(), position, unit));
    const text::CodePoint end = TRY(code_point(target.rope(), position + length, unit));
    TRY(target.doc.text_erase(target.handle, begin, end - begin));
    return Value(true);
}

Result<Value> update(EngineDocuments& documents, const EngineRequest& request) {
    const TextTarget target = TRY(target_of(documents, request));
    const std::string wanted = TRY(request.text("text"));
    const std::vector<text::Splice> splices = text::minimal_splices(target.rope().str(), wanted);
    // The last one first, so that the places of the others stay true.
    for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice) {
        const text::CodePoint begin = target.rope().to_code_point(splice->at);
        const text::CodePoint end = target.rope().to_code_point(splice->at + splice->erase);
        if (begin != end) TRY(target.doc.text_erase(target.handle, begin, end - begin));
        if (!splice->insert.empty())
            TRY(target.doc.text_insert(target.handle, begin, splice->insert));
    }
    return Value(true);
}

Result<Value> string(EngineDocuments& documents, const EngineRequest& request) {
    return Value(TRY(target_of(documents, request)).rope().str());
}

Result<Value> length(EngineDocuments& documents, const EngineRequest& request) {
    const TextTarget target = TRY(target_of(documents, request));
    const Rope& rope = target.rope();
    return Value(Map{
        {"unicode", rope.code_points().n}, {"utf16", rope.utf16().n}, {"utf8", rope.bytes().n}});
}

constexpr std::array kOps = {
    EngineOp{"text.insert", insert}, EngineOp{"text.delete", erase},
    EngineOp{"text.update", update}, EngineOp{"text.string", string},
    EngineOp{"text.len", length},
};

}  // namespace

std::span<const EngineOp> engine_text_ops() {
    return kOps;
}

}  // namespace quire::cli

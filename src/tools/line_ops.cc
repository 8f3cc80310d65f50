// The items are operations in small: rows by a word, with the same check of their arguments
// (operations.h). They are decoded by the field lists of block_edit after that check, so the two
// tools cannot differ in what an edit means.
#include "tools/line_ops.h"

#include <string>
#include <utility>
#include <variant>

#include "base/concat.h"
#include "tools/edit_fields.h"
#include "tools/window_args.h"

namespace quire::tools {
namespace {

using json::Codec;

// A kind of line edit as a row: its members without "op", which names the row.
template <class Edit>
Operation line_operation(std::string op, std::string says) {
    Map arguments = Codec<Edit>::schema();
    arguments.find("properties")->as_map().erase("op");
    std::erase(arguments.find("required")->as_list(), Value("op"));
    return {.name = std::move(op), .says = std::move(says), .arguments = std::move(arguments)};
}

}  // namespace

// They are published as one object with all their members: three objects in a oneOf, as in
// block_edit, would cost a model four times the words.
Operations line_operations(bool full) {
    return {"op",
            {line_operation<edits::InsertLines>("insert", std::string(where_inserted(full))),
             line_operation<edits::DeleteLines>("delete", ""),
             line_operation<edits::ReplaceLines>("replace", "")}};
}

namespace {

// Errors: those of Operations::settle() and lines_asked().
Result<edits::LineOp> line_op(Map item, edits::Numbering numbering) {
    // The words of the rows differ between profiles, the arguments do not, so one table checks all
    // calls.
    static const Operations all = line_operations(true);
    TRY(all.settle(item));
    auto op = json::decode<edits::LineOp>(Value(std::move(item)));
    const auto count = [&](auto& edit) -> Result<void> {
        if constexpr (requires { edit.lines; }) {
            edit.lines = TRY(lines_asked({static_cast<std::int64_t>(edit.lines.begin.n),
                                          static_cast<std::int64_t>(edit.lines.end.n)},
                                         numbering));
        }
        return {};
    };
    TRY(std::visit(count, op));
    return op;
}

}  // namespace

Result<std::vector<edits::LineOp>> line_ops(std::vector<Map> items, edits::Numbering numbering) {
    std::vector<edits::LineOp> out;
    for (Map& item : items) {
        Result<edits::LineOp> op = line_op(std::move(item), numbering);
        if (!op && op.error().reason() == "invalid_argument") {
            return invalid("invalid_argument",
                           cat("operation ", out.size(), ": ", op.error().message()),
                           {{"operation", out.size()}});
        }
        out.push_back(TRY(std::move(op)));
    }
    return out;
}

}  // namespace quire::tools

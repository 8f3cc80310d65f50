// Line edits in JSON: the members of each kind, for block_edit and for `file` with `edit`.
//
// Each kind is told from the others by its member "op". Line numbers are decoded as they stand; a
// profile that counts from 1 converts them afterwards (line_ops.h). `expected_text` and
// `expected_before` are the text that the caller believes to be there: an edit that finds another
// is refused. The room `edits` knows no JSON, so this description stands here.
#pragma once

#include "edits/line_edit.h"
#include "json/fields.h"

namespace quire::json {

// An insert names one line: the new lines go before it, counted from 0, or after it, counted from
// 1, which is the same number.
template <>
struct FieldsOf<edits::InsertLines> {
    static Fields<edits::InsertLines> fields() {
        using edits::InsertLines;
        return Fields<InsertLines>()
            .tag("op", "insert")
            .required(
                "line", [](auto& insert) -> auto& { return insert.at.n; })
            .required("content", &InsertLines::content)
            .optional("expected_before", &InsertLines::expected_before);
    }
};

// Deletions and replacements name a range by two members. Accessors stand for them, since LineRange
// is one member of the struct.
inline constexpr auto kStartLine = [](auto& edit) -> auto& {
    return edit.lines.begin.n;
};
inline constexpr auto kEndLine = [](auto& edit) -> auto& {
    return edit.lines.end.n;
};

template <>
struct FieldsOf<edits::DeleteLines> {
    static Fields<edits::DeleteLines> fields() {
        return Fields<edits::DeleteLines>()
            .tag("op", "delete")
            .required("start_line", kStartLine)
            .required("end_line", kEndLine)
            .optional("expected_text", &edits::DeleteLines::expected);
    }
};
template <>
struct FieldsOf<edits::ReplaceLines> {
    static Fields<edits::ReplaceLines> fields() {
        return Fields<edits::ReplaceLines>()
            .tag("op", "replace")
            .required("start_line", kStartLine)
            .required("end_line", kEndLine)
            .required("content", &edits::ReplaceLines::content)
            .optional("expected_text", &edits::ReplaceLines::expected);
    }
};

}  // namespace quire::json

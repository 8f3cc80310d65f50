// Line edits as tools take them: the members of each kind, in the JSON of block_edit and file.
#pragma once

#include "edits/line_edit.h"
#include "json/fields.h"

namespace quire::json {

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

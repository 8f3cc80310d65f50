// A list of files as the tool `file` answers it: every member in each row, and in profile `model`
// as few words as say the same.
//
// `skipped_names` counts files whose names are no UTF-8. `truncated` without a cursor says that not
// all files can be listed.
#pragma once

#include "json/fields.h"
#include "kernel/files/file_calls.h"
#include "tools/tool.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::FileEntry> {
    static Fields<kernel::FileEntry> fields() {
        using kernel::FileEntry;
        return Fields<FileEntry>()
            .required("path", &FileEntry::path)
            .nullable("block_id", &FileEntry::block_id)
            .nullable("version", &FileEntry::version)
            .required("size", &FileEntry::size)
            .required("permission", &FileEntry::permission);
    }
};
template <>
struct FieldsOf<kernel::FileList> {
    static Fields<kernel::FileList> fields() {
        using kernel::FileList;
        return Fields<FileList>()
            .required("files", &FileList::files)
            .required("truncated", &FileList::truncated)
            .nullable("next_cursor", &FileList::next_cursor)
            .required("skipped_names", &FileList::skipped_names);
    }
};

}  // namespace quire::json

namespace quire::tools {

// In profile `model` the permission that most files have stands once, beside `files`, and a row has
// its own only where that differs. `had_pattern` decides what an empty list says: that nothing
// matches, and how patterns are read.
ToolResult render_file_list(const kernel::FileList& list, bool had_pattern, Profile profile);

}  // namespace quire::tools

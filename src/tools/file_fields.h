// A file, as several tools answer with it, and the answers of the files' source.
//
// The members and their order are published: clients rely on them. `path` is the file's own, also
// where the call named a link to it; `version` is kept even in lean answers, since a model names it
// in later calls. `written` is false where there was nothing to save.
#pragma once

#include <utility>

#include "json/fields.h"
#include "kernel/core/source.h"
#include "kernel/files/file_calls.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::FileVersion> {
    static Fields<kernel::FileVersion> fields() {
        using kernel::FileVersion;
        return Fields<FileVersion>()
            .required("path", &FileVersion::path)
            .required("block_id", &FileVersion::block_id)
            .required("version", &FileVersion::version)
            .kept();
    }
};
template <>
struct FieldsOf<kernel::SourceSaved> {
    static Fields<kernel::SourceSaved> fields() {
        using kernel::SourceSaved;
        return Fields<SourceSaved>()
            .required("bytes", &SourceSaved::bytes)
            .required("written", &SourceSaved::written)
            .required("notes", &SourceSaved::notes);
    }
};

}  // namespace quire::json

namespace quire::tools {

// The block of a source of files, as answers name it: the source's name for a block is the file's
// path.
inline kernel::FileVersion file_of(kernel::SourceVersion block) {
    return {std::move(block.name), std::move(block.block_id), block.version};
}

}  // namespace quire::tools

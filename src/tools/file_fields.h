// A file, as the tools that work on files answer of it.
#pragma once

#include "json/fields.h"
#include "kernel/file_calls.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::FileVersion> {
    static Fields<kernel::FileVersion> fields() {
        using kernel::FileVersion;
        return Fields<FileVersion>()
            .required("path", &FileVersion::path)
            .required("block_id", &FileVersion::block_id)
            .required("version", &FileVersion::version);
    }
};

}  // namespace quire::json

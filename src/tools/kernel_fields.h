// Structs of the kernel that several tools answer with, as JSON: a file, a memory block, and what a
// block's source said about an edit.
//
// The members and their order are published: clients rely on them.
#pragma once

#include "json/fields.h"
#include "kernel/files/file_calls.h"
#include "kernel/memory/memory_requests.h"

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
struct FieldsOf<kernel::SourceAnswer> {
    static Fields<kernel::SourceAnswer> fields() {
        using kernel::SourceAnswer;
        return Fields<SourceAnswer>()
            .required("name", &SourceAnswer::name)
            .required("answer", &SourceAnswer::answer)
            .required("message", &SourceAnswer::message);
    }
};
template <>
struct FieldsOf<kernel::MemoryVersion> {
    static Fields<kernel::MemoryVersion> fields() {
        using kernel::MemoryVersion;
        return Fields<MemoryVersion>()
            .required("label", &MemoryVersion::label)
            .required("block_id", &MemoryVersion::block_id)
            .required("version", &MemoryVersion::version)
            .kept()
            .optional("source", &MemoryVersion::source);
    }
};

}  // namespace quire::json

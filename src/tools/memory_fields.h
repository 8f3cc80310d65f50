// A memory block, as what was done to it is answered.
#pragma once

#include "json/fields.h"
#include "kernel/memory_calls.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::SourceSaid> {
    static Fields<kernel::SourceSaid> fields() {
        using kernel::SourceSaid;
        return Fields<SourceSaid>()
            .required("name", &SourceSaid::name)
            .required("answer", &SourceSaid::answer)
            .required("message", &SourceSaid::message);
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
            .optional("source", &MemoryVersion::source);
    }
};

}  // namespace quire::json

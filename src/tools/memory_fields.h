// A memory block and what its source said about an edit, as several tools answer with them. A block
// that nothing feeds has no `source`.
//
// The members and their order are published: clients rely on them. `version` is kept even in lean
// answers, since a model names it in later calls. `answer` is "applied" or "pending".
#pragma once

#include "json/fields.h"
#include "kernel/memory/memory_requests.h"

namespace quire::json {

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

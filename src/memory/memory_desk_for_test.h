// A memory block on a document of its own, for tests; the writer is named in one word.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/concat.h"
#include "memory/memory_edit.h"

namespace quire::memory {

inline Writer writer(std::string_view actor,
                     policy::Permission permission = policy::Permission::admin) {
    const policy::Actor who = policy::Actor::parse(actor).value();
    const bool fed = who.kind == policy::ActorKind::source || who.kind == policy::ActorKind::system;
    return {who, {fed ? policy::Permission::admin : permission, policy::Deleting::owner}};
}

struct MemoryDesk {
    explicit MemoryDesk(BlockSchema schema, crdt::PeerId peer = 1)
        : doc(peer), block{.label = "notes", .schema = std::move(schema)} {}

    MemoryEdit edit(std::string_view actor = "agent:ada") {
        return {doc, block, writer(actor), now_ms};
    }
    MemoryEdit edit(const Writer& by) { return {doc, block, by, now_ms}; }
    MemoryReader reader() { return {doc, block.schema}; }
    Value value() { return reader().value(); }
    // Exchanges all changes of the two replicas.
    void meet(MemoryDesk& other) {
        doc.commit();
        other.doc.commit();
        ASSERT_TRUE(doc.import(other.doc.changes_since(doc.version())).has_value());
        ASSERT_TRUE(other.doc.import(doc.changes_since(other.doc.version())).has_value());
    }

    crdt::Doc doc;
    MemoryBlock block;
    std::int64_t now_ms = 1'737'642'725'000;  // 2025-01-23T14:32:05Z
};

// "fine", or the reason.
template <class T>
std::string reason(const Result<T>& result) {
    return result ? "fine" : result.error().reason();
}

template <class T>
Result<void> without_value(const Result<T>& result) {
    if (!result) return Failure(result.error());
    return {};
}

}  // namespace quire::memory

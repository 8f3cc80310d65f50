// Desk: a replica with a history of what its peer does, for tests of undo.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "crdt/doc/replica_for_test.h"
#include "crdt/undo/undo_history.h"

namespace quire::crdt {

// Each commit is a step unless a test says otherwise.
struct Desk : Replica {
    explicit Desk(PeerId peer = 1, UndoOptions options = {.merge_interval_ms = 0})
        : Replica(peer), history(doc, std::move(options)) {}

    void commit(std::string origin = "") {
        history.committed(doc.commit({.origin = std::move(origin)}), now);
    }
    bool undo() { return history.undo(now); }
    bool redo() { return history.redo(now); }
    Value get(std::string_view key) const {
        const auto slot = doc.map(map).get(key);
        return slot ? std::get<Value>(*slot) : Value();
    }
    void pull(Desk& other) {
        commit();
        other.commit();
        Replica::pull(other);
    }

    std::int64_t now = 0;
    UndoHistory history;
};

}  // namespace quire::crdt

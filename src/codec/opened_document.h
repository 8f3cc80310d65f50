// A document opened from a snapshot without its history: shown from the states that the snapshot
// holds, a container at a time, while the history stays bytes until load() asks for it.
//
// Opening costs one pass of checksums over the blob and the reading of two small versions. A state
// is decoded, and what is wrong with it told, when it is read: so reading has errors here, which it
// has not in crdt::Doc. A state that says something else than its history is believed, as Loro
// believes it; load() goes by the history.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "codec/container_state.h"
#include "codec/snapshot.h"
#include "crdt/doc/doc.h"

namespace quire::codec {

// One thread at a time. Every error but open()'s is `corrupt`.
class OpenedDocument {
public:
    // Keeps the blob. Errors: corrupt; unsupported "unsupported_mode" for updates,
    // "shallow_snapshot" for one whose history was trimmed, "no_state" for one that is history
    // alone: import those two kinds into a document that has what comes before.
    static Result<OpenedDocument> open(Bytes blob);

    const crdt::VersionVector& version() const { return snapshot_.end(); }
    const crdt::Frontiers& frontiers() const { return snapshot_.heads(); }

    // --- reading: what crdt::Doc shows of the same history ---
    Result<Value> value() const;
    // Null for a child container that is not in the snapshot.
    Result<Value> value(const crdt::ContainerId& id) const;
    // CHECKs that the id is a text's.
    Result<std::string> text(const crdt::ContainerId& id) const;
    // The state itself; none for a container that the snapshot does not hold.
    Result<std::optional<ContainerState>> state(const crdt::ContainerId& id) const;
    // The changes that the heads are in.
    Result<std::vector<crdt::Change>> last_changes() const;

    // The whole document. O(history).
    Result<crdt::Doc> load(crdt::PeerId peer) const;

private:
    OpenedDocument(std::unique_ptr<const Bytes> blob, Snapshot snapshot)
        : blob_(std::move(blob)), snapshot_(std::move(snapshot)) {}

    std::unique_ptr<const Bytes> blob_;  // What the snapshot points into, in one place.
    Snapshot snapshot_;
};

}  // namespace quire::codec

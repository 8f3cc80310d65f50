// MapView: reads and edits a map. Of concurrent writes to a key, the one with the greatest
// (lamport, peer) wins.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "crdt/doc/doc.h"
#include "crdt/ids/change.h"

namespace quire::crdt {

class MapView : public ContainerView {
public:
    // Returns none for a key that is not set. For a mergeable child (crdt/ids/mergeable.h) this is its
    // marker.
    std::optional<Slot> get(std::string_view key) const;
    std::optional<ContainerId> child(std::string_view key) const;
    std::vector<std::string> keys() const;  // Sorted.

    // Errors: see container_view.h.
    Result<void> set(std::string_view key, Value value);  // An equal value is no op.
    Result<ContainerId> insert_container(std::string_view key, ContainerKind kind);
    Result<void> erase(std::string_view key);
    // Shows the mergeable child of this kind under the key, and returns its id: peers who do so at
    // once get one container. It may hold what was written to it before. No op where it is shown
    // already. Errors also: conflict "key_taken" where the key holds something else than null or a
    // mergeable child.
    Result<ContainerId> ensure_mergeable(std::string_view key, ContainerKind kind);

private:
    friend class Doc;
    MapView(const Doc& doc, Handle handle) : ContainerView(doc, handle) {}
};

inline MapView Doc::map(Handle map) {
    return {*this, map};
}
inline const MapView Doc::map(Handle map) const {
    return {*this, map};
}

}  // namespace quire::crdt

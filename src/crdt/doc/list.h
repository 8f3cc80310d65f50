// ListView: reads and edits a list of values and child containers.
#pragma once

#include <cstddef>
#include <optional>

#include "base/result.h"
#include "base/value.h"
#include "crdt/doc/doc.h"
#include "crdt/ids/change.h"

namespace quire::crdt {

class ListView : public ContainerView {
public:
    std::size_t size() const;
    Slot get(std::size_t index) const;           // CHECKs index < size().
    ContainerId child(std::size_t index) const;  // CHECKs that the slot holds a container.
    OpId id(std::size_t index) const;            // The atom that inserted the element.
    // The index of the element now; none if it was deleted. O(log n).
    std::optional<std::size_t> index_of(OpId id) const;

    // Errors: see container_view.h.
    Result<void> insert(std::size_t at, Value value);
    Result<ContainerId> insert_container(std::size_t at, ContainerKind kind);
    Result<void> erase(std::size_t at, std::size_t count);

private:
    friend class Doc;
    ListView(const Doc& doc, Handle handle) : ContainerView(doc, handle) {}
};

inline ListView Doc::list(Handle list) {
    return {*this, list};
}
inline const ListView Doc::list(Handle list) const {
    return {*this, list};
}

}  // namespace quire::crdt

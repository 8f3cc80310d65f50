// MovableListView: reads and edits a list whose elements keep their identity when they are moved or
// set. Indexes count elements.
#pragma once

#include <cstddef>
#include <optional>

#include "base/result.h"
#include "base/value.h"
#include "crdt/doc/doc.h"
#include "crdt/ids/change.h"

namespace quire::crdt {

class MovableListView : public ContainerView {
public:
    std::size_t size() const;
    Item get(std::size_t index) const;  // CHECKs index < size().
    // The atom that put the element where it is: its insert, or its last move.
    OpId id(std::size_t index) const;
    // The index that id() answers `id` for; none when the element has moved on or is gone.
    std::optional<std::size_t> index_of(OpId id) const;

    // Errors: see container_view.h.
    Result<void> insert(std::size_t at, Value value);
    Result<ContainerId> insert_container(std::size_t at, ContainerKind kind);
    Result<void> erase(std::size_t at, std::size_t count);
    // Afterwards the element has index `to`. Moving it to where it is makes no op.
    Result<void> move(std::size_t from, std::size_t to);
    Result<void> set(std::size_t at, Value value);  // Makes an op even for an equal value.
    Result<ContainerId> set_container(std::size_t at, ContainerKind kind);

private:
    friend class Doc;
    MovableListView(const Doc& doc, Handle handle) : ContainerView(doc, handle) {}
};

inline MovableListView Doc::movable_list(Handle list) {
    return {*this, list};
}
inline const MovableListView Doc::movable_list(Handle list) const {
    return {*this, list};
}

}  // namespace quire::crdt

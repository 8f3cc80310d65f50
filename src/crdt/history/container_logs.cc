// Each place has a log that is open, or its bytes. Looking at a packed log opens it, and the bytes
// are dropped then, since the log may grow.
#include "crdt/history/container_logs.h"

namespace quire::crdt {

ContainerLogs::ContainerLogs(const ContainerLogs& other)
    : keys_(other.keys_), reopened_(other.reopened_) {
    for (const Place& place : other.places_) {
        places_.push_back(
            {place.log == nullptr ? nullptr : std::make_unique<ContainerLog>(*place.log),
             place.packed});
    }
}

ContainerIndex ContainerLogs::add(ContainerKind kind) {
    places_.push_back({std::make_unique<ContainerLog>(kind), {}});
    return static_cast<ContainerIndex>(places_.size() - 1);
}

bool ContainerLogs::pack(ContainerIndex container) {
    Place& place = places_[container];
    if (place.log == nullptr) return true;
    place.packed = PackedLog(*place.log, keys_);
    if (place.packed.empty()) return false;
    place.log.reset();
    reopened_.erase(container);
    return true;
}

ContainerLog& ContainerLogs::reopen(ContainerIndex container) const {
    Place& place = places_[container];
    place.log = std::exchange(place.packed, {}).unpack(keys_);
    reopened_.insert(container);
    return *place.log;
}

std::size_t ContainerLogs::memory_bytes(ContainerIndex container) const {
    const Place& place = places_[container];
    if (place.log == nullptr) return sizeof place + place.packed.size();
    return sizeof place + sizeof *place.log + place.log->memory_bytes();
}

}  // namespace quire::crdt

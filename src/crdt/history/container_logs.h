// ContainerLogs: the logs of a document's containers, by number. The log of a container that nobody
// looks at can be packed into bytes (packed_log.h); the next look at it opens it again.
//
// A conversation has thousands of containers and reads few. So a log is opened by whoever looks at
// it, even through a const reference, and packed again only by pack(): the document decides when
// nobody refers to it any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_set>
#include <utility>

#include "crdt/history/packed_log.h"

namespace quire::crdt {

// A container by number; also the index of its log.
using ContainerIndex = std::uint32_t;

class ContainerLogs {
public:
    ContainerLogs() = default;
    // A copy that shares text with the original. O(bytes of runs, of values and of packed logs).
    ContainerLogs(const ContainerLogs& other);
    ContainerLogs& operator=(const ContainerLogs&) = delete;
    ~ContainerLogs() = default;

    std::size_t size() const { return places_.size(); }
    // Adds the log of a new container.
    ContainerIndex add(ContainerKind kind);
    // The log of a container. O(1), or O(log) where it is packed. It stays in place until it is packed.
    ContainerLog& operator[](ContainerIndex container) { return opened(container); }
    const ContainerLog& operator[](ContainerIndex container) const { return opened(container); }
    // Packs the log of a container, which must not be referred to; false if it is not of those that
    // are packed (packed_log.h). O(log).
    bool pack(ContainerIndex container);
    bool is_packed(ContainerIndex container) const { return places_[container].log == nullptr; }
    // The logs that were packed and are open again; those that were taken are not among them.
    std::size_t reopened_count() const { return reopened_.size(); }
    std::unordered_set<ContainerIndex> take_reopened() { return std::exchange(reopened_, {}); }
    // About what the log of a container takes in memory. O(1).
    std::size_t memory_bytes(ContainerIndex container) const;

private:
    // A log; packed while nobody looks at it. Exactly one of the two is there.
    struct Place {
        std::unique_ptr<ContainerLog> log;
        PackedLog packed;
    };
    ContainerLog& opened(ContainerIndex container) const {
        const Place& place = places_[container];
        return place.log != nullptr ? *place.log : reopen(container);
    }
    // Unpacks a log and notes that it was packed. O(log).
    ContainerLog& reopen(ContainerIndex container) const;

    mutable std::deque<Place> places_;  // A deque: a vector keeps room for up to twice as many.
    PackedKeys keys_;
    mutable std::unordered_set<ContainerIndex> reopened_;
};

}  // namespace quire::crdt

// PackedLog: the log of a text or a map as bytes, for a container that nobody looks at.
//
// An open log has room for more, and each op of a map is a struct of a hundred bytes. A conversation
// has two containers for each of its blocks, and looks at few of them. Packed, a block's map of six
// entries takes about 80 bytes, and a text takes its bytes and about ten more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "crdt/history/container_log.h"

namespace quire::crdt {

class PackedLog {
public:
    // No log.
    PackedLog() = default;
    // Packs a log. empty() afterwards if the log is of another kind, has an op that is only carried or
    // is a style's, or is so long that its bytes are most of it anyway. O(log).
    explicit PackedLog(const ContainerLog& log);

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    // The log, equal op by op and run by run. CHECKs that there is one. O(log).
    std::unique_ptr<ContainerLog> unpack() const;

private:
    std::unique_ptr<std::uint8_t[]> bytes_;
    std::uint32_t size_ = 0;
};

}  // namespace quire::crdt

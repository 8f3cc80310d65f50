// PackedLog: the log of a text or a map as bytes, for a container that nobody looks at.
//
// An open log has room for more, and each op of a map is a struct of a hundred bytes. A conversation
// has two containers for each of its blocks, and looks at few of them. Packed, a block's map of six
// entries takes about 60 bytes, and a short text takes its bytes and about ten more. A longer one is
// compressed by LZ4, which takes some 20 microseconds for 8 KB and a few to read it again; English
// becomes about 0.6 of its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "crdt/history/container_log.h"

namespace quire::crdt {

// The keys that the packed maps of one document use, as numbers. The maps of a conversation have the same
// few; beyond the first hundred a key is written out.
class PackedKeys {
public:
    PackedKeys() = default;
    PackedKeys(const PackedKeys& other);
    PackedKeys& operator=(const PackedKeys&) = delete;
    ~PackedKeys() = default;

    // The number of a key, from 1 on; 0 for one that is to be written out. O(1).
    std::uint32_t number_of(std::string_view key);
    const std::string& key(std::uint32_t number) const { return keys_[number - 1]; }

private:
    std::deque<std::string> keys_;  // A deque: the views below stay valid.
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

class PackedLog {
public:
    // No log.
    PackedLog() = default;
    // Packs a log. empty() afterwards if the log is of another kind, has an op that is only carried or
    // is a style's, or is so long that its bytes are most of it anyway. O(log).
    PackedLog(const ContainerLog& log, PackedKeys& keys);
    PackedLog(const PackedLog& other);
    PackedLog& operator=(const PackedLog&) = delete;
    PackedLog(PackedLog&& other) noexcept { *this = std::move(other); }
    PackedLog& operator=(PackedLog&& other) noexcept;
    ~PackedLog() = default;

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    // The log, equal op by op and run by run. CHECKs that there is one. `keys` are those that it was packed
    // with. O(log).
    std::unique_ptr<ContainerLog> unpack(const PackedKeys& keys) const;

private:
    void keep(std::span<const std::uint8_t> bytes);

    std::unique_ptr<std::uint8_t[]> bytes_;
    std::uint32_t size_ = 0;
    std::uint32_t unpacked_size_ = 0;  // 0 for bytes that are not compressed.
};

}  // namespace quire::crdt

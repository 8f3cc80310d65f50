// A version is a count and its entries, each of them in varints. Entries may come in any order, but
// each peer once.
//
// Both are sorted after they are read, so equal versions compare equal whatever the order of a
// writer.
#include "codec/small.h"

#include <algorithm>
#include <cstdint>

#include "base/bytes.h"
#include "base/varint.h"

namespace quire::codec {
namespace {

constexpr std::size_t kSmallestEntry = 2;

// The entries of either, as ids.
Result<std::vector<crdt::OpId>> read_ids(std::span<const std::uint8_t> bytes, std::int64_t max,
                                         const char* what) {
    ByteReader in(bytes);
    const std::uint64_t count = read_uleb(in, in.remaining() / kSmallestEntry, what);
    std::vector<crdt::OpId> ids;
    ids.reserve(count);
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        const crdt::PeerId peer = read_uleb(in, what);
        ids.push_back({peer, static_cast<crdt::Counter>(read_zigzag(in, 0, max, what))});
    }
    if (!in.at_end()) in.fail(what);
    if (!in.ok()) return in.error();
    std::sort(ids.begin(), ids.end());
    return ids;
}

}  // namespace

Bytes encode_version(const crdt::VersionVector& version) {
    return encode_version(version.ends());
}

Bytes encode_version(const std::map<crdt::PeerId, crdt::Counter>& ends) {
    ByteWriter out;
    write_uleb(out, ends.size());
    for (const auto& [peer, end] : ends) {
        write_uleb(out, peer);
        write_zigzag(out, end);
    }
    return std::move(out).take();
}

Result<crdt::VersionVector> decode_version(std::span<const std::uint8_t> bytes) {
    const std::vector<crdt::OpId> ends = TRY(read_ids(bytes, INT32_MAX, "version vector"));
    crdt::VersionVector version;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (i > 0 && ends[i].peer == ends[i - 1].peer)
            return corrupt("bad version vector: a peer is there twice");
        version.set(ends[i].peer, ends[i].counter);
    }
    return version;
}

Bytes encode_frontiers(const crdt::Frontiers& frontiers) {
    crdt::Frontiers sorted = frontiers;
    std::sort(sorted.begin(), sorted.end());
    ByteWriter out;
    write_uleb(out, sorted.size());
    for (const crdt::OpId id : sorted) {
        write_uleb(out, id.peer);
        write_zigzag(out, id.counter);
    }
    return std::move(out).take();
}

Result<crdt::Frontiers> decode_frontiers(std::span<const std::uint8_t> bytes) {
    return read_ids(bytes, INT32_MAX - 1, "frontiers");
}

}  // namespace quire::codec

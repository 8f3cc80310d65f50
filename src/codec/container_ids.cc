// Two spellings of a container's id, with two numberings of kinds. Each id has exactly one key, so
// that a reader can look for it.
//
// Other programs could spell a size or number with more bytes than it needs. A key in such a
// spelling would never be found by container_key(), and one container could stand in a table twice;
// so read_container_key() encodes what it read and compares.
#include "codec/container_ids.h"

#include <array>
#include <limits>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "codec/tables.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;

constexpr std::uint8_t kRootBit = 0x80;
constexpr std::uint8_t kRoot = 0;
constexpr std::uint8_t kNormal = 1;

// Kinds by their number inside a state; kinds beyond the table keep their number.
constexpr std::array<ContainerKind, 6> kKindsInside = {
    ContainerKind::text,         ContainerKind::map,  ContainerKind::list,
    ContainerKind::movable_list, ContainerKind::tree, ContainerKind::counter};

// A number beyond the table is a kind from the future, which both numberings spell alike.
ContainerKind kind_inside(std::uint8_t number) {
    return number < kKindsInside.size() ? kKindsInside[number] : static_cast<ContainerKind>(number);
}

std::uint8_t number_inside(ContainerKind kind) {
    for (std::size_t number = 0; number < kKindsInside.size(); ++number) {
        if (kKindsInside[number] == kind) return static_cast<std::uint8_t>(number);
    }
    return static_cast<std::uint8_t>(kind);
}

std::string_view read_name(ByteReader& in) {
    const std::string_view name = as_text(read_sized(in, "name of a container"));
    if (!utf8::is_valid(name)) in.fail("UTF-8 of a container's name");
    return in.ok() ? name : std::string_view();
}

crdt::PeerId checked(ByteReader& in, crdt::PeerId peer) {
    if (peer == crdt::kNoPeer) in.fail("peer of a container");
    return peer;
}

}  // namespace

// A key holds the kind beside the bit for roots, and a table stores the size of a key in 16 bits.
bool has_container_key(const ContainerId& id) {
    constexpr std::size_t kLongestKey = std::numeric_limits<std::uint16_t>::max();
    constexpr std::size_t kBeforeName = 4;  // The kind, and a size below 2^21.
    return static_cast<std::uint8_t>(id.kind) < kRootBit &&
           (!id.is_root() || id.root_name().size() <= kLongestKey - kBeforeName);
}

Bytes container_key(const ContainerId& id) {
    CHECK(has_container_key(id));
    const auto kind = static_cast<std::uint8_t>(id.kind);
    ByteWriter out;
    if (id.is_root()) {
        out.byte(kind | kRootBit);
        write_sized(out, id.root_name());
    } else {
        out.byte(kind);
        out.u64_le(id.op().peer);
        out.u32_le(static_cast<std::uint32_t>(id.op().counter));
    }
    return std::move(out).take();
}

Result<ContainerId> read_container_key(std::span<const std::uint8_t> key) {
    ByteReader in(key);
    const std::uint8_t first = in.byte("key of a container's state");
    const auto kind = static_cast<ContainerKind>(first & ~kRootBit);
    ContainerId id;
    if ((first & kRootBit) != 0) {
        id = ContainerId::root(std::string(read_name(in)), kind);
    } else {
        const crdt::PeerId peer = checked(in, in.u64_le("peer of a container"));
        const std::uint32_t counter = in.u32_le("counter of a container");
        if (counter > kMaxCounter) in.fail("counter of a container");
        id = ContainerId::normal({peer, static_cast<crdt::Counter>(counter)}, kind);
    }
    if (!in.at_end()) in.fail("end of the key of a container's state");
    if (!in.ok()) return in.error();
    if (!has_container_key(id) || as_text(container_key(id)) != as_text(key)) {
        return corrupt("the key of a container's state is spelled in an unusual way");
    }
    return id;
}

// After a failure the id that comes back means nothing; the caller sees the failure in `in`.
ContainerId read_container_id(ByteReader& in, Budget& budget) {
    switch (in.byte("id of a container")) {
        case kRoot: {
            const std::string_view name = read_name(in);
            if (!budget.take_string(name.size()))
                in.fail("name of a container (too large for its input)");
            return ContainerId::root(in.ok() ? std::string(name) : std::string(),
                                     kind_inside(in.byte("kind of a container")));
        }
        case kNormal: {
            const crdt::PeerId peer = checked(in, read_uleb(in, "peer of a container"));
            const std::int64_t counter = read_zigzag(in, 0, kMaxCounter, "counter of a container");
            return ContainerId::normal({peer, static_cast<crdt::Counter>(counter)},
                                       kind_inside(in.byte("kind of a container")));
        }
        default:
            in.fail("id of a container");
            return {};
    }
}

void write_container_id(ByteWriter& out, const ContainerId& id) {
    if (id.is_root()) {
        out.byte(kRoot);
        write_sized(out, id.root_name());
    } else {
        out.byte(kNormal);
        write_uleb(out, id.op().peer);
        write_zigzag(out, id.op().counter);
    }
    out.byte(number_inside(id.kind));
}

std::optional<ContainerId> read_parent(ByteReader& in, Budget& budget) {
    const std::uint8_t present = in.byte("parent of a container");
    if (present > 1) in.fail("parent of a container");
    if (present != 1 || !in.ok()) return std::nullopt;
    return read_container_id(in, budget);
}

void write_parent(ByteWriter& out, const std::optional<ContainerId>& parent) {
    out.byte(parent ? 1 : 0);
    if (parent) write_container_id(out, *parent);
}

}  // namespace quire::codec

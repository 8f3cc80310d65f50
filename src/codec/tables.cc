// Each table of a block holds what its ops name by number: peers, keys, containers (which name
// peers and keys in turn) and fractional indexes. Reading checks every number against the table
// that it points into. Registers give out the numbers while a block is written.
//
// Order matters in both directions. A container names peers and keys, so their tables are read
// first; while writing, containers still register peers and keys, so those tables are written last.
#include "codec/tables.h"

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "codec/column_writers.h"
#include "codec/columnar.h"

namespace quire::codec {
namespace {

constexpr std::uint64_t kContainerFields = 4;
constexpr std::size_t kSmallestContainerRow = 5;

}  // namespace

crdt::PeerId Tables::peer(ByteReader& in, std::uint64_t index, const char* what) const {
    if (index < peers.size()) return peers[index];
    in.fail(what);
    return 0;
}

std::string_view Tables::key(ByteReader& in, std::uint64_t index, const char* what) const {
    if (index < keys.size()) return keys[index];
    in.fail(what);
    return {};
}

void read_peers(ByteReader& in, Tables& tables) {
    const std::uint64_t count = read_uleb(in, in.remaining() / 8, "number of peers");
    if (count == 0) in.fail("number of peers");
    if (!in.ok()) return;
    tables.peers.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) tables.peers.push_back(in.u64_le("peer"));
    // The other entries are checked with what names them, when changes are imported
    // (doc/validate.h).
    if (tables.peers.front() == crdt::kNoPeer) in.fail("peer of a block (it is reserved)");
}

// The keys have no count of their own. They are counted in a first pass, so that the table is
// charged and allocated once.
void read_keys(ByteReader& in, Tables& tables, Budget& budget) {
    std::size_t count = 0;
    for (ByteReader counting = in; !counting.at_end(); ++count) read_sized(counting, "key");
    if (!budget.take_heap(count * sizeof(std::string_view)))
        in.fail("number of keys (too many for their size)");
    if (!in.ok()) return;
    tables.keys.reserve(count);
    while (!in.at_end()) {
        const std::string_view key = as_text(read_sized(in, "key"));
        if (!utf8::is_valid(key)) in.fail("UTF-8 of a key");
        tables.keys.push_back(key);
    }
}

// A kind is taken as it is, known or not: ops of unknown kinds are carried (payload.h). A root's
// name is copied out of the key table, so it is charged here, since many rows may name one long
// key.
void read_containers(ByteReader& in, Tables& tables, Budget& budget) {
    const std::uint64_t count =
        read_uleb(in, in.remaining() / kSmallestContainerRow, "number of containers");
    if (!budget.take_heap(count * sizeof(crdt::ContainerId))) in.fail("number of containers");
    if (!in.ok()) return;
    tables.containers.reserve(count);
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        if (read_uleb(in, "container row") != kContainerFields) in.fail("container row");
        const std::uint8_t is_root = in.byte("container row");
        if (is_root > 1) in.fail("container row");
        const auto kind = static_cast<crdt::ContainerKind>(in.byte("container kind"));
        const std::uint64_t peer = read_uleb(in, "container's peer");
        const std::int64_t number = read_zigzag(in, 0, kMaxCounter, "container's name or counter");
        if (is_root == 0) {
            const crdt::OpId id{tables.peer(in, peer, "container's peer"),
                                static_cast<crdt::Counter>(number)};
            tables.containers.push_back(crdt::ContainerId::normal(id, kind));
            continue;
        }
        const std::string_view name =
            tables.key(in, static_cast<std::uint64_t>(number), "container's name");
        if (!budget.take_string(name.size())) in.fail("containers (too large for their input)");
        if (!in.ok()) return;
        tables.containers.push_back(crdt::ContainerId::root(std::string(name), kind));
    }
    if (!in.at_end()) in.fail("end of the containers");
}

// Each position shares a prefix with the one before, so the content may be quadratic in the bytes
// that spell it: each is charged at its full length before it is built.
void read_positions(ByteReader& in, Tables& tables, Budget& budget) {
    if (in.at_end()) return;
    if (read_uleb(in, "positions") != 1 || read_uleb(in, "positions") != 2)
        in.fail("shape of the positions");
    ByteReader shared_in =
        in.part(static_cast<std::size_t>(read_uleb(in, "positions")), "positions");
    ByteReader rest_in = in.part(static_cast<std::size_t>(read_uleb(in, "positions")), "positions");
    if (!in.at_end()) in.fail("end of the positions");
    RleReader<UnsignedCell> shared(shared_in, "shared part of a position");
    const std::uint64_t count = read_uleb(rest_in, rest_in.remaining(), "number of positions");
    if (!budget.take_heap(count * sizeof(Bytes))) rest_in.fail("number of positions");
    if (rest_in.ok()) tables.positions.reserve(count);
    for (std::uint64_t i = 0; i < count && rest_in.ok() && shared_in.ok(); ++i) {
        const std::uint64_t prefix = shared.next();
        const auto rest = read_sized(rest_in, "position");
        if (prefix > (i == 0 ? 0 : tables.positions.back().size()))
            shared_in.fail("shared part of a position");
        if (!shared_in.ok() || !rest_in.ok()) break;
        if (!budget.take_heap(prefix + rest.size()))
            rest_in.fail("positions (too large for their input)");
        if (!rest_in.ok()) break;
        Bytes position;
        position.reserve(prefix + rest.size());
        if (prefix > 0) {
            const Bytes& before = tables.positions.back();
            position.assign(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(prefix));
        }
        position.insert(position.end(), rest.begin(), rest.end());
        tables.positions.push_back(std::move(position));
    }
    if (shared_in.ok() && rest_in.ok() && !(shared.at_end() && rest_in.at_end())) {
        rest_in.fail("end of the positions");
    }
    in.adopt(shared_in);
    in.adopt(rest_in);
}

std::uint32_t Registers::position(const Bytes& position) const {
    const auto at = std::lower_bound(positions.begin(), positions.end(), as_text(position));
    CHECK(at != positions.end() && *at == as_text(position));
    return static_cast<std::uint32_t>(at - positions.begin());
}

void Registers::clear() {
    peers.clear();
    keys.clear();
    containers.clear();
    positions.clear();
}

void write_keys(ByteWriter& out, const Registers& registers) {
    for (const std::string_view key : registers.keys.items()) write_sized(out, key);
}

// The count is written first, so no container may be registered from here on; peers and keys may.
void write_containers(ByteWriter& out, Registers& registers) {
    write_uleb(out, registers.containers.items().size());
    for (const ContainerRef container : registers.containers.items()) {
        const crdt::ContainerId& id = *container.id;
        write_uleb(out, kContainerFields);
        out.byte(id.is_root() ? 1 : 0);
        out.byte(static_cast<std::uint8_t>(id.kind));
        write_uleb(out, id.is_root() ? 0 : registers.peers.add(id.op().peer));
        write_zigzag(
            out, id.is_root() ? std::int64_t{registers.keys.add(id.root_name())} : id.op().counter);
    }
}

// Positions are sorted, so neighbours share long prefixes, as fractional indexes of siblings do.
void write_positions(ByteWriter& out, const Registers& registers) {
    if (registers.positions.empty()) return;
    ByteWriter shared_out;
    ByteWriter rest_out;
    RleWriter<UnsignedCell> shared(shared_out);
    write_uleb(rest_out, registers.positions.size());
    std::string_view before;
    for (const std::string_view position : registers.positions) {
        const std::size_t least = std::min(before.size(), position.size());
        const auto prefix = static_cast<std::size_t>(
            std::mismatch(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(least),
                          position.begin())
                .first -
            before.begin());
        shared.append(prefix);
        write_sized(rest_out, position.substr(prefix));
        before = position;
    }
    shared.finish();
    write_uleb(out, 1);
    write_uleb(out, 2);
    write_sized(out, shared_out.bytes());
    write_sized(out, rest_out.bytes());
}

}  // namespace quire::codec

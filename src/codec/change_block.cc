#include "codec/change_block.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "codec/columnar.h"
#include "codec/ops.h"
#include "codec/tables.h"

namespace quire::codec {
namespace {

using crdt::Change;
using crdt::Counter;

constexpr std::uint64_t kMaxLamport = std::numeric_limits<crdt::Lamport>::max() - 1;

struct Totals {
    std::uint64_t counter;
    std::uint64_t atoms;
    std::uint64_t lamport;
    std::uint64_t lamports;
    std::size_t changes;
};

Totals read_totals(ByteReader& in) {
    Totals totals{};
    totals.counter = read_uleb(in, kMaxCounter, "first counter");
    totals.atoms = read_uleb(in, kMaxCounter - totals.counter + 1, "number of atoms");
    totals.lamport = read_uleb(in, kMaxLamport, "first lamport");
    totals.lamports = read_uleb(in, kMaxLamport - totals.lamport + 1, "number of lamports");
    // Each takes more than a byte.
    totals.changes = read_uleb(in, in.remaining(), "number of changes");
    if (totals.changes == 0) in.fail("number of changes");
    return totals;
}

// Fills in ids, deps and lamports; gives the atoms of each change.
std::vector<Counter> read_header(ByteReader& in, const Totals& totals, std::span<Change> changes,
                                 Tables& tables, Budget& budget) {
    read_peers(in, tables);
    std::vector<Counter> atoms;
    atoms.reserve(changes.size());
    std::uint64_t left = totals.atoms;
    for (std::size_t i = 0; i + 1 < changes.size() && in.ok(); ++i) {
        const std::uint64_t length = read_uleb(in, left, "length of a change");
        if (length == 0) in.fail("length of a change");
        atoms.push_back(static_cast<Counter>(length));
        left -= length;
    }
    if (left == 0) in.fail("length of the last change");
    if (!in.ok()) return {};
    atoms.push_back(static_cast<Counter>(left));

    auto counter = static_cast<Counter>(totals.counter);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        changes[i].id = {tables.peers.front(), counter};
        counter += atoms[i];
    }

    BoolRleReader on_self(in, "dependency on the change before");
    std::vector<bool> depends_on_self;
    depends_on_self.reserve(changes.size());
    for (const Change& change : changes) {
        depends_on_self.push_back(on_self.next());
        if (depends_on_self.back() && change.id.counter == 0)
            in.fail("dependency on the change before the first");
    }
    if (!on_self.at_boundary()) in.fail("dependencies on the change before");

    RleReader<UnsignedCell> counts(in, "number of dependencies");
    std::size_t all = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const std::uint64_t count = counts.next();
        // Each of them takes a bit or more below.
        if (count > 8 * in.remaining() || all > 8 * in.remaining())
            in.fail("number of dependencies");
        const std::size_t with_self = count + (depends_on_self[i] ? 1 : 0);
        if (!budget.take_heap(with_self * sizeof(crdt::OpId))) in.fail("number of dependencies");
        if (!in.ok()) return {};
        all += count;
        changes[i].deps.resize(with_self);
        if (depends_on_self[i])
            changes[i].deps.back() = {changes[i].id.peer, changes[i].id.counter - 1};
    }
    if (!counts.at_boundary()) in.fail("numbers of dependencies");

    const auto for_each_other = [&](const auto& fill) {
        for (std::size_t i = 0; i < changes.size(); ++i) {
            const std::size_t count = changes[i].deps.size() - (depends_on_self[i] ? 1 : 0);
            for (std::size_t k = 0; k < count; ++k) fill(changes[i], changes[i].deps[k]);
        }
    };
    RleReader<UnsignedCell> dep_peers(in, "peer of a dependency");
    for_each_other([&](const Change&, crdt::OpId& dep) {
        dep.peer = tables.peer(in, dep_peers.next(), "peer of a dependency");
    });
    if (!dep_peers.at_boundary()) in.fail("peers of dependencies");
    DeltaOfDeltaReader dep_counters(in, all, "counter of a dependency");
    for_each_other([&](const Change& change, crdt::OpId& dep) {
        const std::int64_t number = dep_counters.next();
        if (number < 0 || number > kMaxCounter) in.fail("counter of a dependency");
        dep.counter = static_cast<Counter>(in.ok() ? number : 0);
        if (dep.peer == change.id.peer && dep.counter >= change.id.counter)
            in.fail("dependency on itself");
    });
    for (Change& change : changes) std::sort(change.deps.begin(), change.deps.end());

    DeltaOfDeltaReader lamports(in, changes.size() - 1, "lamport of a change");
    for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
        const std::int64_t lamport = lamports.next();
        if (lamport < 0 || static_cast<std::uint64_t>(lamport) > kMaxLamport)
            in.fail("lamport of a change");
        changes[i].lamport = static_cast<crdt::Lamport>(lamport);
    }
    if (totals.lamports < left) in.fail("lamport of the last change");
    changes.back().lamport = static_cast<crdt::Lamport>(totals.lamport + totals.lamports - left);
    if (changes.front().lamport != totals.lamport) in.fail("lamport of the first change");
    if (!in.at_end()) in.fail("end of the header");
    return atoms;
}

void read_meta(ByteReader& in, std::span<Change> changes, Budget& budget) {
    DeltaOfDeltaReader timestamps(in, changes.size(), "timestamp");
    for (Change& change : changes) change.timestamp = timestamps.next();
    RleReader<UnsignedCell> lengths(in, "length of a message");
    ByteReader lengths_end = in;
    {
        // The lengths stand before all of the messages: walk over them once to find where those
        // begin.
        RleReader<UnsignedCell> ahead(lengths_end, "length of a message");
        for (std::size_t i = 0; i < changes.size(); ++i) ahead.next();
        if (!ahead.at_boundary()) lengths_end.fail("lengths of messages");
    }
    in.adopt(lengths_end);
    for (Change& change : changes) {
        const std::uint64_t length = lengths.next();
        const std::string_view message = as_text(lengths_end.take(length, "message"));
        if (!utf8::is_valid(message)) lengths_end.fail("UTF-8 of a message");
        if (!budget.take_string(message.size())) lengths_end.fail("message");
        in.adopt(lengths_end);
        if (!in.ok()) return;
        change.message = message;
    }
    if (!lengths_end.at_end()) lengths_end.fail("end of the messages");
    in.adopt(lengths_end);
}

ByteReader section(ByteReader& in, const char* what) {
    return in.part(static_cast<std::size_t>(read_uleb(in, what)), what);
}

// What stands in front of the ops: the changes without them, and the atoms of each.
Result<std::vector<Counter>> read_front(ByteReader& in, Tables& tables, Budget& budget,
                                        std::vector<Change>& out) {
    const Totals totals = read_totals(in);
    ByteReader header = section(in, "header of a block");
    ByteReader meta = section(in, "times and messages of a block");
    // Each change but the last has its length in the header.
    if (totals.changes > header.remaining()) in.fail("number of changes");
    if (!budget.take_heap(totals.changes * 2 * sizeof(Counter))) in.fail("number of changes");
    if (!in.ok()) return in.error();
    const std::size_t before = out.size();
    out.resize(before + totals.changes);
    const std::span<Change> changes = std::span(out).subspan(before);
    std::vector<Counter> atoms = read_header(header, totals, changes, tables, budget);
    if (!header.ok()) return header.error();
    read_meta(meta, changes, budget);
    if (!meta.ok()) return meta.error();
    return atoms;
}

}  // namespace

std::size_t change_count(ByteReader block) {
    const Totals totals = read_totals(block);
    return block.ok() ? totals.changes : 0;
}

Result<std::vector<Counter>> read_block_headers(ByteReader in, Budget& budget,
                                                std::vector<Change>& out) {
    Tables tables;
    return read_front(in, tables, budget, out);
}

Result<void> read_block(ByteReader in, Budget& budget, std::vector<Change>& out) {
    const std::size_t before = out.size();
    Tables tables;
    const std::vector<Counter> atoms = TRY(read_front(in, tables, budget, out));
    const std::span<Change> changes = std::span(out).subspan(before);
    ByteReader containers = section(in, "containers of a block");
    ByteReader keys = section(in, "keys of a block");
    ByteReader positions = section(in, "positions of a block");
    const ByteReader ops = section(in, "ops of a block");
    const ByteReader deletes = section(in, "deletes of a block");
    const ByteReader values = section(in, "payloads of a block");
    if (!in.at_end()) in.fail("end of a block");
    if (!in.ok()) return in.error();
    read_keys(keys, tables, budget);
    if (!keys.ok()) return keys.error();
    read_containers(containers, tables, budget);
    if (!containers.ok()) return containers.error();
    read_positions(positions, tables, budget);
    if (!positions.ok()) return positions.error();

    OpReader reader(ops, deletes, values, tables, budget);
    for (std::size_t i = 0; i < changes.size() && reader.ok(); ++i) {
        Change& change = changes[i];
        const std::size_t rows = reader.rows_of(atoms[i]).value_or(0);
        change.ops.reserve(rows);
        crdt::OpId id = change.id;
        for (std::size_t row = 0; row < rows && reader.ok(); ++row) {
            change.ops.push_back(reader.next(id));
            id.counter += crdt::atom_count(change.ops.back().content);
        }
    }
    reader.finish();
    if (!reader.ok()) return reader.error();
    return {};
}

namespace {

std::vector<std::string_view> sorted_positions(std::span<const Change* const> changes) {
    std::vector<std::string_view> positions;
    for (const Change* change : changes) {
        for (const crdt::Op& op : change->ops) {
            if (const auto* create = std::get_if<crdt::TreeCreate>(&op.content)) {
                positions.push_back(as_text(create->position));
            } else if (const auto* move = std::get_if<crdt::TreeMove>(&op.content)) {
                positions.push_back(as_text(move->position));
            }
        }
    }
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    return positions;
}

void write_header(ByteWriter& out, std::span<const Change* const> changes,
                  std::span<const Counter> atoms, Registers& registers) {
    // Peers of dependencies are numbered last, so the columns that register them come before the
    // table.
    ByteWriter columns;
    for (std::size_t i = 0; i + 1 < changes.size(); ++i)
        write_uleb(columns, static_cast<std::uint64_t>(atoms[i]));
    const auto is_own = [](const Change& change, crdt::OpId dep) {
        return dep.peer == change.id.peer && dep.counter == change.id.counter - 1;
    };
    BoolRleWriter on_self(columns);
    ByteWriter counts_out;
    ByteWriter peers_out;
    ByteWriter counters_out;
    RleWriter<UnsignedCell> counts(counts_out);
    RleWriter<UnsignedCell> peers(peers_out);
    DeltaOfDeltaWriter counters(counters_out);
    for (const Change* change : changes) {
        bool depends_on_self = false;
        std::size_t others = 0;
        for (const crdt::OpId dep : change->deps) {
            if (is_own(*change, dep)) {
                depends_on_self = true;
                continue;
            }
            ++others;
            peers.append(registers.peers.add(dep.peer));
            counters.append(dep.counter);
        }
        on_self.append(depends_on_self);
        counts.append(others);
    }
    on_self.finish();
    counts.finish();
    peers.finish();
    counters.finish();
    columns.append(counts_out.bytes());
    columns.append(peers_out.bytes());
    columns.append(counters_out.bytes());
    DeltaOfDeltaWriter lamports(columns);
    for (std::size_t i = 0; i + 1 < changes.size(); ++i) lamports.append(changes[i]->lamport);
    lamports.finish();

    const std::vector<crdt::PeerId>& table = registers.peers.items();
    write_uleb(out, table.size());
    for (const crdt::PeerId peer : table) out.u64_le(peer);
    out.append(columns.bytes());
}

void write_meta(ByteWriter& out, std::span<const Change* const> changes) {
    DeltaOfDeltaWriter timestamps(out);
    for (const Change* change : changes) timestamps.append(change->timestamp);
    timestamps.finish();
    RleWriter<UnsignedCell> lengths(out);
    for (const Change* change : changes) lengths.append(change->message.size());
    lengths.finish();
    for (const Change* change : changes) out.append(change->message);
}

template <class Write>
void write_section(ByteWriter& out, const Write& write) {
    ByteWriter section;
    write(section);
    write_sized(out, section.bytes());
}

}  // namespace

void write_block(ByteWriter& out, std::span<const Change* const> changes) {
    CHECK(!changes.empty());
    const Change& first = *changes.front();
    const Change& last = *changes.back();
    Registers registers;
    registers.peers.add(first.id.peer);
    registers.positions = sorted_positions(changes);

    OpWriter ops(registers);
    std::vector<Counter> atoms;
    atoms.reserve(changes.size());
    Counter counter = first.id.counter;
    for (const Change* change : changes) {
        CHECK(change->id == (crdt::OpId{first.id.peer, counter}) && !change->ops.empty());
        for (const crdt::Op& op : change->ops) {
            const Counter length = crdt::atom_count(op.content);
            CHECK(op.counter == counter && length > 0);
            ops.append(op, length);
            counter += length;
        }
        atoms.push_back(counter - change->id.counter);
    }

    ByteWriter containers;
    write_containers(containers, registers);
    ByteWriter header;
    write_header(header, changes, atoms, registers);
    write_uleb(out, static_cast<std::uint64_t>(first.id.counter));
    write_uleb(out, static_cast<std::uint64_t>(counter - first.id.counter));
    write_uleb(out, first.lamport);
    write_uleb(out, last.lamport + static_cast<std::uint64_t>(atoms.back()) - first.lamport);
    write_uleb(out, changes.size());
    write_sized(out, header.bytes());
    write_section(out, [&](ByteWriter& section) { write_meta(section, changes); });
    write_sized(out, containers.bytes());
    write_section(out, [&](ByteWriter& section) { write_keys(section, registers); });
    write_section(out, [&](ByteWriter& section) { write_positions(section, registers); });
    ops.write_sections(out);
}

}  // namespace quire::codec

// Reading goes through a block once, column by column: totals, header, times and messages, then the
// tables, then the ops, which fill the batch's rows in place. Every count is charged to the budget
// before memory is taken, and every column must end where its section does. Writing registers
// peers, keys and containers as it meets them, and writes the tables in front of the columns.
// O(bytes).
#include "codec/change_block.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "codec/column_writers.h"
#include "codec/columnar.h"
#include "codec/delta_of_delta.h"
#include "codec/op_reader.h"
#include "codec/op_writer.h"
#include "codec/tables.h"

namespace quire::codec {
namespace {

using crdt::Change;
using crdt::ChangeBatch;
using crdt::Counter;
using Head = ChangeBatch::Head;

constexpr std::uint64_t kMaxLamport = std::numeric_limits<crdt::Lamport>::max() - 1;

// The counter of a dependency that is yet to be read.
constexpr Counter kNotYet = -1;

struct Totals {
    std::uint64_t counter;
    std::uint64_t atoms;
    std::uint64_t lamport;
    std::uint64_t lamports;
    std::size_t changes;
};

// Bounds make the sums safe: first counter and atoms, and first lamport and lamports, stay in
// range.
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

// Fills in the `all` dependencies on others, which are the block's deps without a counter. The one on
// the change before is there already, and stands last.
void read_deps(ByteReader& in, std::size_t all, ChangeBatch& batch, std::span<const Head> heads,
               const BatchNumbers& numbers) {
    std::vector<ChangeBatch::Dep*> others;
    others.reserve(all);
    for (ChangeBatch::Dep& dep : std::span(batch.deps).subspan(heads.front().dep)) {
        if (dep.counter == kNotYet) others.push_back(&dep);
    }
    RleReader<UnsignedCell> peers(in, "peer of a dependency");
    for (ChangeBatch::Dep* dep : others) {
        const std::uint64_t peer = peers.next();
        if (peer >= numbers.peers.size()) in.fail("peer of a dependency");
        dep->peer = in.ok() ? numbers.peers[peer] : 0;
    }
    if (!peers.at_boundary()) in.fail("peers of dependencies");
    auto next = others.begin();
    read_delta_of_delta(in, all, "counter of a dependency", [&](std::int64_t number) {
        if (number < 0 || number > kMaxCounter) in.fail("counter of a dependency");
        (*next++)->counter = static_cast<Counter>(number);
    });
    if (!in.ok()) return;
    for (const Head& head : heads) {
        const auto deps = std::span(batch.deps).subspan(head.dep, head.dep_count);
        for (const ChangeBatch::Dep dep : deps) {
            if (dep.peer == head.peer && dep.counter >= head.counter)
                return in.fail("dependency on itself");
        }
        if (deps.size() < 2) continue;
        std::sort(deps.begin(), deps.end(), [&](ChangeBatch::Dep a, ChangeBatch::Dep b) {
            return batch.id_of(a) < batch.id_of(b);
        });
    }
}

// The target into which the front of a block is read: the batch, and the block's heads in it.
struct Front {
    ChangeBatch& batch;
    std::span<Head> heads;
    const BatchNumbers& numbers;
    Budget& budget;
};

// The last change has no length of its own: it takes the atoms that are left.
void read_counters(ByteReader& in, const Totals& totals, const Front& front) {
    const std::span<Head> heads = front.heads;
    std::uint64_t left = totals.atoms;
    auto counter = static_cast<Counter>(totals.counter);
    const std::uint32_t peer = front.numbers.peers.front();
    for (std::size_t i = 0; i + 1 < heads.size() && in.ok(); ++i) {
        const std::uint64_t length = read_uleb(in, left, "length of a change");
        if (length == 0) in.fail("length of a change");
        heads[i].peer = peer;
        heads[i].counter = counter;
        heads[i].atoms = static_cast<Counter>(length);
        counter += heads[i].atoms;
        left -= length;
    }
    if (left == 0) in.fail("length of the last change");
    if (!in.ok()) return;
    heads.back().peer = peer;
    heads.back().counter = counter;
    heads.back().atoms = static_cast<Counter>(left);
}

// Makes room for the dependencies. How many there are beside those on the changes before.
std::size_t read_dep_counts(ByteReader& in, const Front& front) {
    ChangeBatch& batch = front.batch;
    BoolRleReader on_self(in, "dependency on the change before");
    for (Head& head : front.heads) {
        head.dep_count = on_self.next() ? 1 : 0;
        if (head.dep_count > 0 && head.counter == 0)
            in.fail("dependency on the change before the first");
    }
    if (!on_self.at_boundary()) in.fail("dependencies on the change before");

    RleReader<UnsignedCell> counts(in, "number of dependencies");
    std::size_t all = 0;
    std::size_t own = 0;
    for (Head& head : front.heads) {
        const std::uint64_t count = counts.next();
        head.dep = static_cast<std::uint32_t>(batch.deps.size());
        own += head.dep_count;
        if (count == 0) {
            if (head.dep_count > 0) batch.deps.push_back({head.peer, head.counter - 1});
            continue;
        }
        // Each of them takes a bit or more below.
        if (count > 8 * in.remaining() || all > 8 * in.remaining() ||
            batch.deps.size() + count >= UINT32_MAX) {
            in.fail("number of dependencies");
        }
        if (!front.budget.take_heap(count * sizeof(crdt::OpId))) in.fail("number of dependencies");
        if (!in.ok()) return 0;
        all += count;
        // The one on the change before stands last until they are sorted.
        batch.deps.resize(head.dep + count, {0, kNotYet});
        if (head.dep_count > 0) batch.deps.push_back({head.peer, head.counter - 1});
        head.dep_count += static_cast<std::uint32_t>(count);
    }
    if (!front.budget.take_heap(own * sizeof(crdt::OpId))) in.fail("number of dependencies");
    if (!counts.at_boundary()) in.fail("numbers of dependencies");
    return all;
}

// Fills in all but times, messages and rows.
void read_header(ByteReader& in, const Totals& totals, const Front& front) {
    const std::span<Head> heads = front.heads;
    read_counters(in, totals, front);
    if (!in.ok()) return;
    const std::size_t all = read_dep_counts(in, front);
    if (!in.ok()) return;
    read_deps(in, all, front.batch, heads, front.numbers);

    auto next = heads.begin();
    read_delta_of_delta(in, heads.size() - 1, "lamport of a change", [&](std::int64_t lamport) {
        if (lamport < 0 || static_cast<std::uint64_t>(lamport) > kMaxLamport)
            in.fail("lamport of a change");
        (next++)->lamport = static_cast<crdt::Lamport>(lamport);
    });
    const auto last = static_cast<std::uint64_t>(heads.back().atoms);
    if (totals.lamports < last) in.fail("lamport of the last change");
    heads.back().lamport = static_cast<crdt::Lamport>(totals.lamport + totals.lamports - last);
    if (heads.front().lamport != totals.lamport) in.fail("lamport of the first change");
    if (!in.at_end()) in.fail("end of the header");
}

void read_meta(ByteReader& in, std::span<Head> heads, Budget& budget) {
    auto next = heads.begin();
    read_delta_of_delta(in, heads.size(), "timestamp",
                        [&](std::int64_t timestamp) { (next++)->timestamp = timestamp; });
    RleReader<UnsignedCell> lengths(in, "length of a message");
    ByteReader lengths_end = in;
    {
        // The lengths stand before all of the messages: walk over them once to find where those
        // begin.
        RleReader<UnsignedCell> ahead(lengths_end, "length of a message");
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < heads.size(); ++i) any |= ahead.next();
        if (!ahead.at_boundary()) lengths_end.fail("lengths of messages");
        if (any == 0) heads = {};  // Most blocks have no message.
    }
    in.adopt(lengths_end);
    for (Head& head : heads) {
        const std::uint64_t length = lengths.next();
        if (length == 0 && in.ok()) continue;
        const std::string_view message = as_text(lengths_end.take(length, "message"));
        if (!utf8::is_valid(message)) lengths_end.fail("UTF-8 of a message");
        if (!budget.take_string(message.size())) lengths_end.fail("message");
        in.adopt(lengths_end);
        if (!in.ok()) return;
        head.message = message;
    }
    if (!lengths_end.at_end()) lengths_end.fail("end of the messages");
    in.adopt(lengths_end);
}

ByteReader section(ByteReader& in, const char* what) {
    return in.part(static_cast<std::size_t>(read_uleb(in, what)), what);
}

// Reads the part in front of the ops: the changes without their ops.
Result<void> read_front(ByteReader& in, Tables& tables, BatchNumbers& numbers, Budget& budget,
                        ChangeBatch& out) {
    const Totals totals = read_totals(in);
    ByteReader header = section(in, "header of a block");
    ByteReader meta = section(in, "times and messages of a block");
    // Each change but the last has its length in the header.
    if (totals.changes > header.remaining()) in.fail("number of changes");
    if (!budget.take_heap(totals.changes * 2 * sizeof(Counter))) in.fail("number of changes");
    if (!in.ok()) return in.error();
    read_peers(header, tables);
    if (!header.ok()) return header.error();
    for (const crdt::PeerId peer : tables.peers) numbers.peers.push_back(out.peers.add(peer));
    const std::size_t before = out.heads.size();
    out.heads.resize(before + totals.changes);
    const std::span<Head> heads = std::span(out.heads).subspan(before);
    read_header(header, totals, {out, heads, numbers, budget});
    if (!header.ok()) return header.error();
    read_meta(meta, heads, budget);
    if (!meta.ok()) return meta.error();
    return {};
}

}  // namespace

std::size_t change_count(ByteReader block) {
    const Totals totals = read_totals(block);
    return block.ok() ? totals.changes : 0;
}

Result<std::vector<Counter>> read_block_headers(ByteReader in, Budget& budget,
                                                std::vector<Change>& out) {
    Tables tables;
    BatchNumbers numbers;
    ChangeBatch batch;
    TRY(read_front(in, tables, numbers, budget, batch));
    std::vector<Counter> atoms;
    for (const Head& head : batch.heads) {
        out.push_back(batch.change(head));
        atoms.push_back(head.atoms);
    }
    return atoms;
}

// After an error `out` holds a part of the block; its user clears it or drops it.
Result<void> read_block(ByteReader in, Budget& budget, ChangeBatch& out) {
    const std::size_t before = out.heads.size();
    Tables tables;
    BatchNumbers numbers;
    TRY(read_front(in, tables, numbers, budget, out));
    const std::span<Head> heads = std::span(out.heads).subspan(before);
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
    for (const crdt::ContainerId& id : tables.containers)
        numbers.containers.push_back(out.containers.add(id));
    read_positions(positions, tables, budget);
    if (!positions.ok()) return positions.error();

    OpReader reader(ops, deletes, values, tables, numbers, budget);
    reader.make_room(out);
    const std::size_t first_row = out.rows.size();
    if (reader.read(out.id_of(heads.front()), heads.back().end() - heads.front().counter, out))
        reader.share_out(heads, first_row, out);
    reader.finish();
    if (!reader.ok()) return reader.error();
    return {};
}

namespace {

// Sorted by bytes, each once.
void register_positions(const ChangeBatch& batch, std::span<const Head> heads,
                        std::vector<std::string_view>& positions) {
    for (const Head& head : heads) {
        for (const ChangeBatch::Row& row : batch.rows_of(head)) {
            if (row.form != ChangeBatch::Form::content) continue;
            if (const auto* create = std::get_if<crdt::TreeCreate>(row.content)) {
                positions.push_back(as_text(create->position));
            } else if (const auto* move = std::get_if<crdt::TreeMove>(row.content)) {
                positions.push_back(as_text(move->position));
            }
        }
    }
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

// A dependency on the peer's change before is a bit; the others are columns.
void write_header(ByteWriter& out, const ChangeBatch& batch, std::span<const Head> heads,
                  Registers& registers) {
    const auto is_own = [](const Head& head, ChangeBatch::Dep dep) {
        return dep.peer == head.peer && dep.counter == head.counter - 1;
    };
    // Peers of dependencies are numbered last, and the table of peers comes first.
    for (const Head& head : heads) {
        for (const ChangeBatch::Dep dep : batch.deps_of(head)) {
            if (!is_own(head, dep)) registers.peers.add(batch.peers[dep.peer]);
        }
    }
    const Section section(out);
    write_uleb(out, registers.peers.size());
    for (const crdt::PeerId peer : registers.peers.items()) out.u64_le(peer);
    for (const Head& head : heads.first(heads.size() - 1))
        write_uleb(out, static_cast<std::uint64_t>(head.atoms));

    BoolRleWriter on_self(out);
    for (const Head& head : heads) {
        const auto deps = batch.deps_of(head);
        on_self.append(std::any_of(deps.begin(), deps.end(),
                                   [&](ChangeBatch::Dep dep) { return is_own(head, dep); }));
    }
    on_self.finish();
    RleWriter<UnsignedCell> counts(out);
    for (const Head& head : heads) {
        const auto deps = batch.deps_of(head);
        counts.append(static_cast<std::uint64_t>(std::count_if(
            deps.begin(), deps.end(), [&](ChangeBatch::Dep dep) { return !is_own(head, dep); })));
    }
    counts.finish();
    const auto for_each_other = [&](const auto& take) {
        for (const Head& head : heads) {
            for (const ChangeBatch::Dep dep : batch.deps_of(head)) {
                if (!is_own(head, dep)) take(dep);
            }
        }
    };
    RleWriter<UnsignedCell> peers(out);
    for_each_other(
        [&](ChangeBatch::Dep dep) { peers.append(registers.peers.add(batch.peers[dep.peer])); });
    peers.finish();
    DeltaOfDeltaWriter counters(out);
    for_each_other([&](ChangeBatch::Dep dep) { counters.append(dep.counter); });
    counters.finish();
    DeltaOfDeltaWriter lamports(out);
    for (const Head& head : heads.first(heads.size() - 1)) lamports.append(head.lamport);
    lamports.finish();
}

void write_meta(ByteWriter& out, std::span<const Head> heads) {
    const Section section(out);
    DeltaOfDeltaWriter timestamps(out);
    for (const Head& head : heads) timestamps.append(head.timestamp);
    timestamps.finish();
    RleWriter<UnsignedCell> lengths(out);
    for (const Head& head : heads) lengths.append(head.message.size());
    lengths.finish();
    for (const Head& head : heads) out.append(head.message);
}

}  // namespace

// A change that does not depend on its peer's one before may be earlier than that; a block tells only where
// its lamports begin and how many there are.
bool continues(const Head& next, const Head& before) {
    return next.peer == before.peer && next.counter == before.end() &&
           next.lamport >= std::uint64_t{before.lamport} + static_cast<std::uint64_t>(before.atoms);
}

void BlockWriter::write(ByteWriter& out, const ChangeBatch& batch, std::span<const Head> heads) {
    CHECK(!heads.empty());
    const Head& first = heads.front();
    const Head& last = heads.back();
    registers_.clear();
    registers_.peers.add(batch.peers[first.peer]);
    register_positions(batch, heads, registers_.positions);
    Counter counter = first.counter;
    for (const Head& head : heads) {
        CHECK(head.row_count > 0);
        CHECK(&head == &first || continues(head, *(&head - 1)));
        for (const ChangeBatch::Row& row : batch.rows_of(head)) {
            CHECK(row.atoms > 0);
            ops_.append(batch, row);
            counter += row.atoms;
        }
        CHECK(counter == head.end());
    }

    containers_.clear();
    write_containers(containers_, registers_);
    write_uleb(out, static_cast<std::uint64_t>(first.counter));
    write_uleb(out, static_cast<std::uint64_t>(counter - first.counter));
    write_uleb(out, first.lamport);
    write_uleb(out, last.lamport + static_cast<std::uint64_t>(last.atoms) - first.lamport);
    write_uleb(out, heads.size());
    write_header(out, batch, heads, registers_);
    write_meta(out, heads);
    write_sized(out, containers_.bytes());
    {
        const Section keys(out);
        write_keys(out, registers_);
    }
    {
        const Section positions(out);
        write_positions(out, registers_);
    }
    ops_.write_sections(out);
}

}  // namespace quire::codec

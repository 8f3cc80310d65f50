// Ids in states are columns of peer, counter and lamport, run-length and delta encoded. Rows are
// read from all columns side by side; at the end each column must be used up.
//
// Runs can spell far more rows than the columns have bytes, so a column never says how many rows
// there are: the caller knows that from elsewhere, or goes on to the end and charges each row as it
// comes. A failure in one column is handed to the reader of the whole state by finish().
#include "codec/state_columns.h"

#include <algorithm>

#include "base/varint.h"

namespace quire::codec {
namespace {

// A bad index gives peer 0, so that the row can be finished; the failure is in `in`.
bool is_lamport(std::int64_t lamport) {
    return lamport >= 0 && lamport <= kMaxStateLamport;
}

crdt::PeerId peer_of(ByteReader& in, const std::vector<crdt::PeerId>& table, std::int64_t index) {
    if (static_cast<std::size_t>(index) < table.size())
        return table[static_cast<std::size_t>(index)];
    in.fail("index of a peer");
    return 0;
}

}  // namespace

void expect_shape(ByteReader& in, std::uint64_t expected, const char* what) {
    if (read_uleb(in, what) != expected) in.fail(what);
}

std::vector<crdt::PeerId> read_state_peers(ByteReader& in, Budget& budget) {
    const std::uint64_t count =
        read_uleb(in, in.remaining() / sizeof(crdt::PeerId), "number of peers");
    if (!budget.take_heap(count * sizeof(crdt::PeerId))) in.fail("number of peers");
    std::vector<crdt::PeerId> peers;
    if (!in.ok()) return peers;
    peers.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        peers.push_back(in.u64_le("peer"));
        if (peers.back() == crdt::kNoPeer) in.fail("peer");
    }
    return peers;
}

void write_state_peers(ByteWriter& out, const Register<crdt::PeerId>& peers) {
    write_uleb(out, peers.items().size());
    for (const crdt::PeerId peer : peers.items()) out.u64_le(peer);
}

AtomReader::AtomReader(ByteReader& in, const std::vector<crdt::PeerId>& peers)
    : table_(peers),
      peer_in_(read_column(in, "peers of atoms")),
      counter_in_(read_column(in, "counters of atoms")),
      lamport_in_(read_column(in, "lamports of atoms")),
      peers_(peer_in_, 0, INT32_MAX, "index of a peer"),
      counters_(counter_in_, 0, kMaxCounter, "counter of an atom"),
      // An i32 as Loro writes it. Wider is read, so that what we can hold we can write and read.
      lamports_(lamport_in_, -kMaxCounter, kMaxStateLamport, "lamport of an atom") {}

StampedId AtomReader::next() {
    const crdt::PeerId peer = peer_of(static_cast<std::uint32_t>(peers_.next()));
    const auto counter = static_cast<crdt::Counter>(counters_.next());
    const std::int64_t lamport = counter + lamports_.next();
    if (!is_lamport(lamport)) lamport_in_.fail("lamport of an atom");
    return {{peer, counter}, static_cast<crdt::Lamport>(lamport)};
}

std::size_t AtomReader::read() {
    const std::size_t count = peers_.read(peer_cells_);
    if (counters_.read(counter_cells_) != count || lamports_.read(lamport_cells_) != count)
        peer_in_.fail("number of atoms");
    bool sound = true;
    for (std::size_t i = 0; i < count; ++i)
        sound &= is_lamport(counter_cells_[i] + lamport_cells_[i]);
    if (!sound) lamport_in_.fail("lamport of an atom");
    return ok() ? count : 0;
}

void AtomReader::finish(ByteReader& in) {
    if (ok() && !(peers_.at_end() && counters_.at_end() && lamports_.at_end()))
        peer_in_.fail("number of atoms");
    in.adopt(peer_in_);
    in.adopt(counter_in_);
    in.adopt(lamport_in_);
}

// Typed text counts up in both, so the lamport less the counter stays the same and its column
// shrinks to one run.
void AtomWriter::append(const StampedId& atom) {
    peers_.append(table_.add(atom.id.peer));
    counters_.append(atom.id.counter);
    lamports_.append(std::int64_t{atom.lamport} - atom.id.counter);
}

void AtomWriter::write_columns(ByteWriter& out) {
    peers_.finish();
    counters_.finish();
    lamports_.finish();
    for (const ByteWriter* column : {&peer_out_, &counter_out_, &lamport_out_})
        write_sized(out, column->bytes());
}

StampReader::StampReader(ByteReader& in, const std::vector<crdt::PeerId>& peers)
    : table_(peers),
      peer_in_(read_column(in, "peers of stamps")),
      lamport_in_(read_column(in, "lamports of stamps")),
      peers_(peer_in_, 0, INT32_MAX, "index of a peer"),
      lamports_(lamport_in_, 0, kMaxStateLamport, "lamport") {}

Stamp StampReader::next() {
    Stamp stamp;
    stamp.peer = peer_of(peer_in_, table_, peers_.next());
    stamp.lamport = static_cast<crdt::Lamport>(lamports_.next());
    return stamp;
}

void StampReader::finish(ByteReader& in) {
    if (ok() && !(peers_.at_end() && lamports_.at_end())) peer_in_.fail("number of stamps");
    in.adopt(peer_in_);
    in.adopt(lamport_in_);
}

void StampWriter::append(const Stamp& stamp) {
    peers_.append(table_.add(stamp.peer));
    lamports_.append(stamp.lamport);
}

void StampWriter::write_columns(ByteWriter& out) {
    peers_.finish();
    lamports_.finish();
    write_sized(out, peer_out_.bytes());
    write_sized(out, lamport_out_.bytes());
}

// A run is one number that sorts by its first counter: counter above, size below.
void AtomRuns::add(crdt::OpId first, crdt::Counter size) {
    // Mostly it is the peer of the run before.
    if (last_ == nullptr || last_peer_ != first.peer) {
        last_ = &by_peer_[first.peer];
        last_peer_ = first.peer;
    }
    last_->push_back(std::uint64_t{static_cast<std::uint32_t>(first.counter)} << 32U |
                     static_cast<std::uint32_t>(size));
}

namespace {

struct Stretch {
    explicit Stretch(std::uint64_t run)
        : begin(run >> 32U), end(begin + static_cast<std::uint32_t>(run)) {}
    std::uint64_t begin;
    std::uint64_t end;
};

// A bit for each atom from `first` on.
class Seen {
public:
    Seen(std::uint64_t first, std::uint64_t size) : first_(first), words_(size / 64 + 1) {}
    // Notes the atoms, and says whether one of them was there.
    bool add(Stretch atoms) {
        std::uint64_t before = 0;
        for (std::uint64_t at = atoms.begin - first_; at < atoms.end - first_;) {
            const std::uint64_t count = std::min(64 - at % 64, atoms.end - first_ - at);
            const std::uint64_t bits = (~std::uint64_t{0} >> (64 - count)) << at % 64;
            std::uint64_t& word = words_[at / 64];
            before |= word & bits;
            word |= bits;
            at += count;
        }
        return before != 0;
    }

private:
    std::uint64_t first_;
    std::vector<std::uint64_t> words_;
};

// Runs of one peer. Sorted ones are compared with their neighbours. A state lists atoms in the
// order of the document, which is seldom that of the counters, but mostly dense in them.
bool two_overlap(std::vector<std::uint64_t>& runs) {
    if (!std::is_sorted(runs.begin(), runs.end())) {
        const std::uint64_t first = Stretch(*std::min_element(runs.begin(), runs.end())).begin;
        std::uint64_t end = 0;
        for (const std::uint64_t run : runs) end = std::max(end, Stretch(run).end);
        // If they lie close together, a bit for each atom takes no more memory than sorting.
        if ((end - first) / 64 < runs.size()) {
            Seen seen(first, end - first);
            return std::any_of(runs.begin(), runs.end(),
                               [&](std::uint64_t run) { return seen.add(Stretch(run)); });
        }
        std::sort(runs.begin(), runs.end());
    }
    return std::adjacent_find(runs.begin(), runs.end(), [](std::uint64_t a, std::uint64_t b) {
               return Stretch(b).begin < Stretch(a).end;
           }) != runs.end();
}

}  // namespace

bool AtomRuns::overlap() {
    return std::any_of(by_peer_.begin(), by_peer_.end(),
                       [](auto& entry) { return two_overlap(entry.second); });
}

}  // namespace quire::codec

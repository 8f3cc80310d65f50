// The values of a list, then the columns of the atoms that inserted them.
//
// Rows are atoms one by one; in memory they are joined to runs, since typed or pasted values count
// up.
#include "codec/state_list.h"

#include "base/check.h"
#include "base/varint.h"

namespace quire::codec {
namespace {

bool follows(const IdRun& run, const StampedId& atom) {
    return atom.id.peer == run.first.id.peer &&
           atom.id.counter == run.first.id.counter + run.size &&
           atom.lamport == run.first.lamport + static_cast<crdt::Lamport>(run.size);
}

void verify(ByteReader& in, const std::vector<IdRun>& ids, Budget& budget) {
    const std::size_t scratch = ids.size() * AtomRuns::kScratch;
    if (!budget.take_heap(scratch)) return in.fail("ids of a list (too large for their input)");
    AtomRuns runs;
    for (const IdRun& run : ids) runs.add(run.first.id, run.size);
    if (runs.overlap()) in.fail("ids of a list (one is there twice)");
    budget.give_back(scratch);
}

}  // namespace

ListState read_list_state(ByteReader& in, Budget& budget) {
    ListState state;
    state.values = read_state_slots(in, budget);
    const std::vector<crdt::PeerId> peers = read_state_peers(in, budget);
    expect_shape(in, 1, "shape of a list's ids");
    expect_shape(in, 3, "shape of a list's ids");
    AtomReader atoms(in, peers);
    for (std::size_t i = 0; i < state.values.size() && atoms.ok(); ++i) {
        const StampedId atom = atoms.next();
        if (state.ids.empty() || !follows(state.ids.back(), atom)) {
            if (!budget.grow(state.ids)) in.fail("ids of a list (too large for their input)");
            if (!in.ok()) return state;
            state.ids.push_back({atom, 0});
        }
        ++state.ids.back().size;
    }
    atoms.finish(in);
    if (!in.at_end()) in.fail("end of a list's state");
    if (in.ok()) verify(in, state.ids, budget);
    return state;
}

void write_list_state(ByteWriter& out, const ListState& state) {
    write_uleb(out, state.values.size());
    for (const StateSlot& value : state.values) write_state_slot(out, value);
    Register<crdt::PeerId> peers;
    AtomWriter atoms(peers);
    std::size_t rows = 0;
    for (const IdRun& run : state.ids) {
        for (crdt::Counter i = 0; i < run.size; ++i) {
            atoms.append({{run.first.id.peer, run.first.id.counter + i},
                          run.first.lamport + static_cast<crdt::Lamport>(i)});
        }
        rows += static_cast<std::size_t>(run.size);
    }
    CHECK(rows == state.values.size());
    write_state_peers(out, peers);
    write_uleb(out, 1);
    write_uleb(out, 3);
    atoms.write_columns(out);
}

}  // namespace quire::codec

// Slots are rows of atoms. Elements are rows of flags, and have a name or a last set of their own
// only where the flags say that they differ from their slot's atom.
//
//     slots     . A . . B C .          "." shows nothing
//     rows      1 2 0 1                how many such slots follow: the start, A, B, C
//     elements    A     B C
//
// The number of slots is told by the rows alone, and a row can say two billion in a few bytes; so
// it is summed up and charged before a slot is made.
#include "codec/state_movable_list.h"

#include <algorithm>

#include "base/check.h"
#include "base/varint.h"

namespace quire::codec {
namespace {

struct ItemRow {
    std::uint64_t hidden = 0;
    bool same_id = true;
    bool same_set = true;
};

Stamp stamp_of(const StampedId& atom) {
    return {atom.lamport, atom.id.peer};
}

// A row for the start and one for each of `elements`.
std::vector<ItemRow> read_rows(ByteReader& in, std::size_t elements, Budget& budget) {
    expect_shape(in, 3, "shape of a movable list's items");
    ByteReader hidden_in = read_column(in, "slots that show nothing");
    ByteReader same_id_in = read_column(in, "elements named by their slots");
    ByteReader same_set_in = read_column(in, "elements never set");
    if (!budget.take_heap((elements + 1) * sizeof(ItemRow))) in.fail("number of items");
    std::vector<ItemRow> rows;
    if (!in.ok()) return rows;
    rows.reserve(elements + 1);
    DeltaRleReader hidden(hidden_in, 0, kMaxCounter, "slots that show nothing");
    BoolRleReader same_id(same_id_in, "elements named by their slots");
    BoolRleReader same_set(same_set_in, "elements never set");
    for (std::size_t i = 0; i <= elements && hidden_in.ok() && same_id_in.ok() && same_set_in.ok();
         ++i) {
        rows.push_back(
            {static_cast<std::uint64_t>(hidden.next()), same_id.next(), same_set.next()});
    }
    if (hidden_in.ok() && !hidden.at_end()) hidden_in.fail("number of items");
    if (same_id_in.ok() && !(same_id.at_boundary() && same_id_in.at_end()))
        same_id_in.fail("number of items");
    if (same_set_in.ok() && !(same_set.at_boundary() && same_set_in.at_end()))
        same_set_in.fail("number of items");
    in.adopt(hidden_in);
    in.adopt(same_id_in);
    in.adopt(same_set_in);
    // The first row is no element, and has the flags that cost nothing.
    if (in.ok() && !(rows.front().same_id && rows.front().same_set))
        in.fail("first item of a movable list");
    return rows;
}

template <class T>
bool has_twice(std::vector<T> items) {
    std::sort(items.begin(), items.end());
    return std::adjacent_find(items.begin(), items.end()) != items.end();
}

// Columns can spell one atom many times. Two slots or elements of one name would make ops that name
// it mean either.
void verify(ByteReader& in, const MovableListState& state, Budget& budget) {
    if (!budget.take_heap(state.slots.size() * sizeof(crdt::OpId) +
                          state.elements.size() * sizeof(Stamp))) {
        return in.fail("movable list (too large for its input)");
    }
    std::vector<crdt::OpId> atoms;
    atoms.reserve(state.slots.size());
    for (const MovableSlot& slot : state.slots) atoms.push_back(slot.atom.id);
    if (has_twice(std::move(atoms))) in.fail("slots of a movable list (one is there twice)");
    std::vector<Stamp> names;
    names.reserve(state.elements.size());
    for (const MovableElement& element : state.elements) names.push_back(element.id);
    if (has_twice(std::move(names))) in.fail("elements of a movable list (one is there twice)");
}

}  // namespace

MovableListState read_movable_list_state(ByteReader& in, Budget& budget) {
    MovableListState state;
    std::vector<StateSlot> values = read_state_slots(in, budget);
    const std::vector<crdt::PeerId> peers = read_state_peers(in, budget);
    expect_shape(in, 4, "shape of a movable list's state");
    const std::vector<ItemRow> rows = read_rows(in, values.size(), budget);
    expect_shape(in, 3, "shape of a movable list's slots");
    AtomReader atoms(in, peers);
    expect_shape(in, 2, "shape of a movable list's elements");
    StampReader names(in, peers);
    expect_shape(in, 2, "shape of a movable list's sets");
    StampReader sets(in, peers);
    if (!in.at_end()) in.fail("end of a movable list's state");
    if (!in.ok()) return state;

    std::uint64_t slots = values.size();
    for (const ItemRow& row : rows)
        slots += row.hidden;  // At most 2^31 each: no overflow below 2^32 rows.
    // A run can spell a billion of them in five bytes.
    if (slots > kMaxCounter || !budget.take_heap(slots * sizeof(MovableSlot)) ||
        !budget.take_heap(values.size() * sizeof(MovableElement))) {
        in.fail("number of slots (too many for their size)");
        return state;
    }
    state.slots.reserve(slots);
    state.elements.reserve(values.size());
    for (std::size_t i = 0; i < rows.size() && atoms.ok() && names.ok() && sets.ok(); ++i) {
        if (i > 0) {
            MovableSlot& slot = state.slots.emplace_back(MovableSlot{atoms.next(), true});
            MovableElement& element = state.elements.emplace_back();
            element.id = rows[i].same_id ? stamp_of(slot.atom) : names.next();
            element.last_set = rows[i].same_set ? element.id : sets.next();
            element.value = std::move(values[i - 1]);
        }
        for (std::uint64_t k = 0; k < rows[i].hidden && atoms.ok(); ++k) {
            state.slots.push_back({atoms.next(), false});
        }
    }
    atoms.finish(in);
    names.finish(in);
    sets.finish(in);
    if (in.ok()) verify(in, state, budget);
    return state;
}

void write_movable_list_state(ByteWriter& out, const MovableListState& state) {
    write_uleb(out, state.elements.size());
    for (const MovableElement& element : state.elements) write_state_slot(out, element.value);

    Register<crdt::PeerId> peers;
    AtomWriter atoms(peers);
    StampWriter names(peers);
    StampWriter sets(peers);
    std::vector<ItemRow> rows(1);
    for (const MovableSlot& slot : state.slots) {
        atoms.append(slot.atom);
        if (!slot.shows) {
            ++rows.back().hidden;
            continue;
        }
        CHECK(rows.size() <= state.elements.size());
        const MovableElement& element = state.elements[rows.size() - 1];
        const ItemRow row{0, element.id == stamp_of(slot.atom), element.last_set == element.id};
        if (!row.same_id) names.append(element.id);
        if (!row.same_set) sets.append(element.last_set);
        rows.push_back(row);
    }
    CHECK(rows.size() == state.elements.size() + 1);

    ByteWriter hidden_out;
    ByteWriter same_id_out;
    ByteWriter same_set_out;
    DeltaRleWriter hidden(hidden_out);
    BoolRleWriter same_id(same_id_out);
    BoolRleWriter same_set(same_set_out);
    for (const ItemRow& row : rows) {
        hidden.append(static_cast<std::int64_t>(row.hidden));
        same_id.append(row.same_id);
        same_set.append(row.same_set);
    }
    hidden.finish();
    same_id.finish();
    same_set.finish();

    write_state_peers(out, peers);
    write_uleb(out, 4);
    write_uleb(out, 3);
    for (const ByteWriter* column : {&hidden_out, &same_id_out, &same_set_out})
        write_sized(out, column->bytes());
    write_uleb(out, 3);
    atoms.write_columns(out);
    write_uleb(out, 2);
    names.write_columns(out);
    write_uleb(out, 2);
    sets.write_columns(out);
}

}  // namespace quire::codec

// Slots are rows of atoms. Elements are rows of flags, and have a name or a last set of their own
// only where the flags say that they differ from their slot's atom.
//
//     slots     . A . . B C .          "." shows nothing
//     rows      1 2 0 1                how many such slots follow: the start, A, B, C
//     elements    A     B C
//
// The number of slots is told by the rows alone, and a row can say two billion in a few bytes; so
// it is summed up and charged before a slot is made. The rows are read twice and not kept: what a
// reader holds for an element are its value and stamps, its slot and, to look for names that are there
// twice, its name. That is 136 bytes, where the bytes that spell it may be one.
#include "codec/state_movable_list.h"

#include <algorithm>

#include "base/check.h"
#include "base/varint.h"

namespace quire::codec {
namespace {

// A row of flags. There is one for the start and one for each element.
struct ItemRow {
    std::uint64_t hidden = 0;
    bool same_id = true;
    bool same_set = true;
};

Stamp stamp_of(const StampedId& atom) {
    return {atom.lamport, atom.id.peer};
}

class ItemReader {
public:
    // Takes the three columns out of `in`.
    explicit ItemReader(ByteReader& in)
        : hidden_in_((expect_shape(in, 3, "shape of a movable list's items"),
                      read_column(in, "slots that show nothing"))),
          same_id_in_(read_column(in, "elements named by their slots")),
          same_set_in_(read_column(in, "elements never set")) {}
    ItemReader(const ItemReader&) = delete;
    ItemReader& operator=(const ItemReader&) = delete;
    ~ItemReader() = default;

    bool ok() const { return hidden_in_.ok() && same_id_in_.ok() && same_set_in_.ok(); }
    ItemRow next() { return {hidden_row(hidden_), same_id_.next(), same_set_.next()}; }
    // How many slots show nothing, by the rows to come, of which there are `rows`. Stops beyond
    // kMaxCounter.
    std::uint64_t count_hidden(std::size_t rows) const {
        ByteReader in = hidden_in_;
        DeltaRleReader ahead(in, 0, kMaxCounter, kHidden);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < rows && in.ok() && sum <= kMaxCounter; ++i)
            sum += hidden_row(ahead);
        return sum;
    }
    // Hands a failure to `in`; with none, the columns have to be used up.
    void finish(ByteReader& in) {
        if (ok() && !(hidden_.at_end() && same_id_.at_boundary() && same_id_in_.at_end() &&
                      same_set_.at_boundary() && same_set_in_.at_end())) {
            hidden_in_.fail("number of items");
        }
        for (const ByteReader* part : {&hidden_in_, &same_id_in_, &same_set_in_}) in.adopt(*part);
    }

private:
    static constexpr const char* kHidden = "slots that show nothing";
    static std::uint64_t hidden_row(DeltaRleReader& column) {
        return static_cast<std::uint64_t>(column.next());
    }

    ByteReader hidden_in_, same_id_in_, same_set_in_;
    DeltaRleReader hidden_{hidden_in_, 0, kMaxCounter, kHidden};
    BoolRleReader same_id_{same_id_in_, "elements named by their slots"};
    BoolRleReader same_set_{same_set_in_, "elements never set"};
};

// Reads the values into elements, whose names and sets stand further on.
void read_values(ByteReader& in, std::vector<MovableElement>& elements, Budget& budget) {
    const std::uint64_t count = read_uleb(in, in.remaining(), "number of values");
    if (!budget.take_heap(count * sizeof(MovableElement)))
        in.fail("number of values (too many for their size)");
    if (!in.ok()) return;
    elements.reserve(count);
    for (std::uint64_t i = 0; i < count && in.ok(); ++i)
        elements.emplace_back().value = read_state_slot(in, budget);
}

template <class T>
bool has_twice(std::vector<T>& items) {
    std::sort(items.begin(), items.end());
    return std::adjacent_find(items.begin(), items.end()) != items.end();
}

// Columns can spell one atom many times. Two slots or elements of one name would make ops that name
// it mean either. One is looked at after the other, so that only the larger takes memory.
void verify(ByteReader& in, const MovableListState& state, Budget& budget) {
    const std::size_t scratch =
        std::max(state.slots.size() * sizeof(crdt::OpId), state.elements.size() * sizeof(Stamp));
    if (!budget.take_heap(scratch)) return in.fail("movable list (too large for its input)");
    {
        std::vector<crdt::OpId> atoms;
        atoms.reserve(state.slots.size());
        for (const MovableSlot& slot : state.slots) atoms.push_back(slot.atom.id);
        if (has_twice(atoms)) in.fail("slots of a movable list (one is there twice)");
    }
    {
        std::vector<Stamp> names;
        names.reserve(state.elements.size());
        for (const MovableElement& element : state.elements) names.push_back(element.id);
        if (has_twice(names)) in.fail("elements of a movable list (one is there twice)");
    }
    budget.give_back(scratch);
}

}  // namespace

MovableListState read_movable_list_state(ByteReader& in, Budget& budget) {
    MovableListState state;
    read_values(in, state.elements, budget);
    const std::vector<crdt::PeerId> peers = read_state_peers(in, budget);
    expect_shape(in, 4, "shape of a movable list's state");
    ItemReader rows(in);
    expect_shape(in, 3, "shape of a movable list's slots");
    AtomReader atoms(in, peers);
    expect_shape(in, 2, "shape of a movable list's elements");
    StampReader names(in, peers);
    expect_shape(in, 2, "shape of a movable list's sets");
    StampReader sets(in, peers);
    if (!in.at_end()) in.fail("end of a movable list's state");
    if (!in.ok()) return state;

    const std::uint64_t slots =
        state.elements.size() + rows.count_hidden(state.elements.size() + 1);
    // A run can spell a billion of them in five bytes.
    if (slots > kMaxCounter || !budget.take_heap(slots * sizeof(MovableSlot))) {
        in.fail("number of slots (too many for their size)");
        return state;
    }
    state.slots.reserve(slots);
    const auto add_hidden = [&](std::uint64_t count) {
        for (; count > 0 && atoms.ok(); --count) state.slots.push_back({atoms.next(), false});
    };
    const ItemRow start = rows.next();
    // The first row is no element, and has the flags that cost nothing.
    if (rows.ok() && !(start.same_id && start.same_set)) in.fail("first item of a movable list");
    if (rows.ok()) add_hidden(start.hidden);
    for (MovableElement& element : state.elements) {
        const ItemRow row = rows.next();
        if (!rows.ok() || !atoms.ok() || !names.ok() || !sets.ok()) break;
        const MovableSlot& slot = state.slots.emplace_back(MovableSlot{atoms.next(), true});
        element.id = row.same_id ? stamp_of(slot.atom) : names.next();
        element.last_set = row.same_set ? element.id : sets.next();
        add_hidden(row.hidden);
    }
    rows.finish(in);
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

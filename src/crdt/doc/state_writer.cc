// StateWriter turns a state into ops in front of all others. Their atoms have the ids and lamports
// that they always had, so everything that reads, edits, merges or exports works on them as on any
// history. What only the real history tells (text that was deleted, earlier values) is not there:
// history.h says what reads it then.
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/opening.h"

namespace quire::crdt {

namespace {

// The slot that an atom filled with the item. A child must be named after the atom.
Result<Slot> slot_of(Item item, OpId made_by) {
    const auto* child = std::get_if<ContainerId>(&item);
    if (child == nullptr) return Slot(std::get<Value>(std::move(item)));
    if (child->is_root()) return needs_history("a child with a name of its own");
    if (child->op() != made_by) return corrupt("a child is named after another atom than made it");
    return Slot(child->kind);
}

}  // namespace

SequenceBody& StateWriter::sequence() const {
    SequenceBody* sequence = container().sequence();
    CHECK(sequence != nullptr);
    return *sequence;
}

Result<void> StateWriter::begin(const ContainerId& id) {
    end();
    container_ = &body_.container(body_.open(id));
    if (!container().log->empty()) return corrupt("a container is there twice");
    is_open_ = true;
    styles_.clear();
    return {};
}

void StateWriter::end() {
    if (!std::exchange(is_open_, false)) return;
    // Somebody may have written it empty, or nobody ever wrote to it.
    // Roots that were never written to have no value, and a state does not tell them apart.
    if (container().id.is_root() && container().log->empty()) body_.doubt_roots();
}

Result<void> StateWriter::grow(std::size_t entities) {
    std::uint32_t& size = sequence().size;
    if (entities > kMaxSize - size) return corrupt("a container holds more than one can");
    size += static_cast<std::uint32_t>(entities);
    return {};
}

Lv StateWriter::place(const StampedAtom& first, Counter count) {
    const Lv lv = body_.oplog().end();
    body_.oplog().place(container().index,
                        {first.id.peer, first.id.counter, first.lamport, static_cast<Lv>(count)});
    return lv;
}

// A register names its writer by peer and lamport, so the counter stays unknown, unless the write
// made a child: that is named after the atom.
Result<Lv> StateWriter::place(ElementId writer, const Item* made) {
    const Lv lv = body_.oplog().end();
    OpLog::Placed atom{.peer = writer.peer, .lamport = writer.lamport};
    const auto* child = made == nullptr ? nullptr : std::get_if<ContainerId>(made);
    if (child != nullptr) {
        if (child->is_root()) return needs_history("a child with a name of its own");
        if (child->op().peer != writer.peer)
            return corrupt("a child is named after another peer than made it");
        atom.first = child->op().counter;
    }
    body_.oplog().place(container().index, atom);
    return lv;
}

void StateWriter::expect_stretches(std::size_t count) {
    body_.oplog().expect_placed(count);
    container().log->expect(count);
}

Result<void> StateWriter::text(const StampedAtom& first, std::string_view utf8, Counter len) {
    Container& c = container();
    const std::uint32_t pos = sequence().size;
    TRY(grow(static_cast<std::size_t>(len)));
    const Lv lv = place(first, len);
    c.log->insert_text({.lv = lv, .pos = pos, .len = static_cast<std::uint32_t>(len)}, utf8);
    return {};
}

Result<void> StateWriter::style_start(StampedAtom at, std::string key, Value value,
                                      std::uint8_t info) {
    Container& c = container();
    const std::uint32_t pos = sequence().size;
    TRY(grow(1));
    c.log->keep({.lv = place(at, 1), .pos = pos}, RunKind::anchor,
                StyleStart{pos, pos, std::move(key), std::move(value), info});
    c.as<TextBody>().has_anchors = true;
    styles_.insert(at.id);
    return {};
}

// An end has no key or value: it finds its start by the counter before its own, so a start that was
// deleted from the text leaves an end that only the history explains.
Result<void> StateWriter::style_end(StampedAtom at) {
    Container& c = container();
    const std::uint32_t pos = sequence().size;
    if (at.id.counter == 0 || !styles_.contains({at.id.peer, at.id.counter - 1}))
        return needs_history("what style ends here");
    TRY(grow(1));
    c.log->keep({.lv = place(at, 1), .pos = pos}, RunKind::anchor, StyleEnd{});
    return {};
}

Result<void> StateWriter::values(StampedAtom first, std::span<Item> values) {
    Container& c = container();
    const std::uint32_t pos = sequence().size;
    TRY(grow(values.size()));
    std::vector<Slot> slots;
    slots.reserve(values.size());
    OpId made_by = first.id;
    for (Item& item : values) {
        slots.push_back(TRY(slot_of(std::move(item), made_by)));
        ++made_by.counter;
    }
    const Lv lv = place(first, static_cast<Counter>(values.size()));
    c.log->insert_values(lv, pos, std::move(slots), true, false);
    return {};
}

void StateWriter::expect_entries(std::size_t count) {
    container().log->reserve(count);
}

Result<void> StateWriter::entry(std::string key, std::optional<Item> item, ElementId writer) {
    Container& c = container();
    const Lv lv = TRY(place(writer, item ? &*item : nullptr));
    OpContent op = MapErase{key};
    if (item) {
        Slot slot = TRY(slot_of(std::move(*item), body_.oplog().atoms().id_of(lv)));
        op = MapSet{std::move(key), std::move(slot)};
    }
    c.log->keep({.lv = lv}, RunKind::map_entry, std::move(op));
    c.as<MapBody>().apply({body_, c}, c.log->runs().back());
    return {};
}

// Writes the element as if it had been inserted here, then moved to where it is, then set.
Result<void> StateWriter::element(StampedAtom slot, ElementId made, ElementId set, Item item) {
    Container& c = container();
    ContainerLog& log = *c.log;
    const std::uint32_t pos = sequence().size;
    TRY(grow(1));
    const ElementId put{slot.id.peer, slot.lamport};
    // A hostile state may order the three writes as no history can; the merge rules would then pick
    // another winner than the state shows.
    const auto is_later = [](ElementId a, ElementId b) {
        return a.lamport != b.lamport ? a.lamport > b.lamport : a.peer > b.peer;
    };
    if ((put != made && !is_later(put, made)) || (set != made && !is_later(set, made)))
        return corrupt("an element was moved or set before it was made");
    Lv creator = 0;
    if (put == made) {
        creator = place(slot, 1);
    } else {
        creator = TRY(place(made, set == made ? &item : nullptr));
    }
    const auto slot_by = [&](Lv writer) {
        return slot_of(std::move(item), body_.oplog().atoms().id_of(writer));
    };
    Slot first = Value();
    if (set == made) first = TRY(slot_by(creator));
    log.insert_values(creator, pos, std::vector<Slot>{std::move(first)}, true, false);
    if (put != made) log.move(place(slot, 1), pos, pos, creator, true);
    if (set == made) return {};
    const Lv setter = TRY(place(set, &item));
    log.set(setter, creator, TRY(slot_by(setter)), true);
    return {};
}

// Writes the slot as if an element had been inserted there, moved to the place behind it, for which
// only a slot is made, and deleted there.
Result<void> StateWriter::empty_slot(StampedAtom slot) {
    Container& c = container();
    ContainerLog& log = *c.log;
    const std::uint32_t pos = sequence().size;
    TRY(grow(1));
    const auto insert = [&](Lv lv, std::uint32_t at) {
        log.insert_values(lv, at, std::vector<Slot>{Value()}, true, false);
    };
    // Later than the slot, so that they decide about it whatever order they are looked at in.
    const ElementId nobody{kNoPeer, slot.lamport};
    const Lv made = place(slot, 1);
    insert(made, pos);
    insert(TRY(place(nobody, nullptr)), pos + 1);
    log.move(TRY(place(nobody, nullptr)), pos + 1, pos + 1, made, true);
    log.erase_forward(TRY(place(nobody, nullptr)), pos + 1, 1, false);
    return {};
}

// Writes the node as if it had been made where it is. A state does not tell the lamport of the op
// that made it; any will do that is below the last move's, and no atom's counter is above its
// lamport. A history may also move or erase a node that nobody made, under any name; that shows
// only there.
Result<void> StateWriter::node(OpId id, std::optional<OpId> parent, bool erased,
                               StampedAtom last_move, Bytes position) {
    ContainerLog& log = *container().log;
    const auto write = [&](StampedAtom atom, OpContent op) {
        log.keep({.lv = place(atom, 1)}, RunKind::other, std::move(op));
    };
    if (id == last_move.id) {
        if (erased) return needs_history("what made a node");
        write(last_move, TreeCreate{id, parent, std::move(position)});
        return {};
    }
    const auto lowest = static_cast<Lamport>(id.counter);
    if (lowest >= last_move.lamport) return needs_history("what made a node");
    write({id, lowest}, TreeCreate{id, parent, erased ? Bytes() : position});
    if (erased) {
        write(last_move, TreeErase{id});
    } else {
        write(last_move, TreeMove{id, parent, std::move(position)});
    }
    return {};
}

Result<void> StateWriter::total(double sum) {
    if (sum == 0) return {};  // It is empty, like a text without letters: see end().
    container().log->increment(TRY(place({kNoPeer, 0}, nullptr)), sum);
    return {};
}

}  // namespace quire::crdt

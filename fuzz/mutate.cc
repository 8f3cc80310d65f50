#include "fuzz/mutate.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

namespace quire::fuzz {
namespace {

using namespace crdt;  // NOLINT(google-build-using-namespace): the nouns of this file.

constexpr std::size_t kMostChanges = 64;

std::uint32_t some_position(Chance& chance) {
    return static_cast<std::uint32_t>(chance.one_in(20) ? chance.below(1U << 29)
                                                        : chance.below(12));
}
PeerId some_peer(Chance& chance) {
    return 1 + chance.below(5);
}
OpId some_id(Chance& chance) {
    return {some_peer(chance), static_cast<Counter>(chance.below(40))};
}
// A number near the one that was.
template <class T>
T near(T was, Chance& chance) {
    const std::uint64_t by = 1 + chance.below(3);
    const auto from = static_cast<std::uint64_t>(was);
    return static_cast<T>(chance.one_in(2) || was < static_cast<T>(by) ? from + by : from - by);
}

Value some_value(Chance& chance, int depth = 0) {
    switch (chance.below(depth > 3 ? 7 : 9)) {
        case 0:
            return nullptr;
        case 1:
            return chance.one_in(2);
        case 2:
            return static_cast<std::int64_t>(chance.next());
        case 3:
            return static_cast<std::int64_t>(chance.below(3));
        case 4:
            return static_cast<double>(chance.below(9)) / 4;
        case 5:
            return std::string(chance.below(20), 'v');
        case 6:
            return Bytes(chance.below(5), 0xFF);
        case 7: {
            List list;
            for (std::size_t n = chance.below(4); n > 0; --n)
                list.push_back(some_value(chance, depth + 1));
            return list;
        }
        default: {
            Map map;
            for (std::size_t n = chance.below(3); n > 0; --n)
                map.append(std::string(n, 'k'), some_value(chance, depth + 1));
            return map;
        }
    }
}

Slot some_slot(Chance& chance) {
    if (chance.one_in(3)) return static_cast<ContainerKind>(chance.below(6));
    return some_value(chance);
}

Bytes some_index(Chance& chance) {
    Bytes bytes;
    for (std::size_t n = chance.below(4); n > 0; --n)
        bytes.push_back(static_cast<std::uint8_t>(chance.below(256)));
    bytes.push_back(0x80);
    return bytes;
}

OpContent some_content(ContainerKind kind, OpId own, Chance& chance) {
    const std::uint32_t at = some_position(chance);
    const auto erase = [&] {
        const auto len = static_cast<std::int32_t>(1 + chance.below(4));
        const bool backwards = at + 1 >= static_cast<std::uint32_t>(len) && chance.one_in(3);
        return SequenceDelete{static_cast<std::int32_t>(at), backwards ? -len : len,
                              some_id(chance)};
    };
    const ElementId element{some_peer(chance), static_cast<Lamport>(chance.below(40))};
    const auto parent = [&]() -> std::optional<OpId> {
        if (chance.one_in(2)) return std::nullopt;
        return some_id(chance);
    };
    switch (kind) {
        case ContainerKind::text:
            switch (chance.below(4)) {
                case 0:
                    return erase();
                case 1:
                    return StyleStart{at, at + some_position(chance) % 9, "bold",
                                      some_value(chance),
                                      static_cast<std::uint8_t>(chance.below(256))};
                case 2:
                    return StyleEnd{};
                default:
                    return TextInsert{at, chance.one_in(3) ? "é😀" : std::string(1 + at % 7, 't')};
            }
        case ContainerKind::list:
            if (chance.one_in(3)) return erase();
            return ListInsert{at, {some_slot(chance), some_slot(chance)}};
        case ContainerKind::movable_list:
            switch (chance.below(4)) {
                case 0:
                    return erase();
                case 1:
                    return ListMove{at, some_position(chance), element};
                case 2:
                    return ListSet{element, some_slot(chance)};
                default:
                    return ListInsert{at, {some_slot(chance)}};
            }
        case ContainerKind::tree:
            switch (chance.below(3)) {
                case 0:
                    return TreeErase{some_id(chance)};
                case 1:
                    return TreeMove{some_id(chance), parent(), some_index(chance)};
                default:
                    return TreeCreate{own, parent(), some_index(chance)};
            }
        case ContainerKind::counter:
            return CounterAdd{chance.one_in(2) ? Value(static_cast<std::int64_t>(chance.below(9)))
                                               : Value(0.25)};
        case ContainerKind::map:
            break;
    }
    const std::string key(1 + chance.below(2), 'k');
    if (chance.one_in(3)) return MapErase{key};
    return MapSet{key, some_slot(chance)};
}

// Says something slightly else.
struct Nudge {
    Chance& chance;

    void operator()(TextInsert& op) const {
        if (chance.one_in(2)) {
            op.pos = some_position(chance);
        } else {
            op.text += chance.one_in(2) ? "x" : "é😀";
        }
    }
    void operator()(ListInsert& op) const {
        if (chance.one_in(2)) {
            op.pos = some_position(chance);
        } else {
            op.values.push_back(some_slot(chance));
        }
    }
    void operator()(SequenceDelete& op) const {
        switch (chance.below(3)) {
            case 0:
                op.pos = static_cast<std::int32_t>(some_position(chance));
                op.len = std::abs(op.len);
                break;
            case 1:
                op.len = near(std::abs(op.len), chance);
                break;
            default:
                op.start = some_id(chance);
        }
        if (op.len == 0) op.len = 1;
    }
    void operator()(StyleStart& op) const {
        op.start = some_position(chance);
        op.end = op.start + some_position(chance) % 9;
        if (chance.one_in(2)) op.value = some_value(chance);
        if (chance.one_in(4)) op.info = static_cast<std::uint8_t>(chance.below(256));
    }
    void operator()(StyleEnd&) const {}
    void operator()(ListMove& op) const {
        (chance.one_in(2) ? op.from : op.to) = some_position(chance);
        if (chance.one_in(4)) op.element.lamport = near(op.element.lamport, chance);
    }
    void operator()(ListSet& op) const {
        op.value = some_slot(chance);
        if (chance.one_in(4)) op.element.lamport = near(op.element.lamport, chance);
    }
    void operator()(MapSet& op) const { op.value = some_slot(chance); }
    void operator()(MapErase& op) const { op.key += 'k'; }
    void operator()(TreeCreate& op) const { place(op); }
    void operator()(TreeMove& op) const {
        place(op);
        if (chance.one_in(3)) op.target = some_id(chance);
    }
    void operator()(TreeErase& op) const { op.target = some_id(chance); }
    void operator()(CounterAdd& op) const { op.delta = static_cast<std::int64_t>(chance.below(9)); }
    void operator()(UnknownOp& op) const { op.prop = near(op.prop, chance); }

private:
    template <class Placed>
    void place(Placed& op) const {
        if (chance.one_in(2)) {
            op.position = some_index(chance);
        } else if (chance.one_in(2)) {
            op.parent = some_id(chance);
        } else {
            op.parent.reset();
        }
    }
};

// Makes the ops' counters follow each other again.
void renumber(Change& change) {
    Counter next = change.id.counter;
    for (Op& op : change.ops) {
        op.counter = next;
        next += atom_count(op.content);
    }
}

void mutate_change(Change& change, Chance& chance) {
    Op& op = change.ops[chance.below(change.ops.size())];
    switch (chance.below(8)) {
        case 0:
            std::swap(op.content, change.ops[chance.below(change.ops.size())].content);
            break;
        case 1:
            if (change.ops.size() > 1)
                change.ops.erase(change.ops.begin() +
                                 static_cast<std::ptrdiff_t>(chance.below(change.ops.size())));
            break;
        case 2: {
            Op more{op.container, 0, some_content(op.container.kind, {change.id.peer, 0}, chance)};
            if (std::holds_alternative<UnknownOp>(op.content)) more.content = op.content;
            change.ops.push_back(std::move(more));
            break;
        }
        case 3:
            change.deps.push_back(some_id(chance));
            break;
        case 4:
            if (!change.deps.empty()) change.deps.pop_back();
            break;
        case 5:
            if (chance.one_in(2)) {
                change.lamport = near(change.lamport, chance);
            } else {
                change.timestamp = static_cast<std::int64_t>(chance.next());
            }
            break;
        case 6:
            if (op.container.is_root() || chance.one_in(2)) {
                op.container = ContainerId::normal(some_id(chance), op.container.kind);
            } else {
                op.container = ContainerId::root("r", op.container.kind);
            }
            break;
        default:
            std::visit(Nudge{chance}, op.content);
    }
    renumber(change);
    // A node is made by the op that it is named after.
    for (Op& each : change.ops) {
        if (auto* create = std::get_if<TreeCreate>(&each.content))
            create->target = {change.id.peer, each.counter};
    }
}

void add_change(std::vector<Change>& changes, Chance& chance) {
    const auto kind = static_cast<ContainerKind>(chance.below(6));
    Change change;
    change.id.peer = some_peer(chance);
    for (const Change& other : changes) {
        if (other.id.peer == change.id.peer)
            change.id.counter = std::max(change.id.counter, other.id.counter + atom_count(other));
    }
    if (!changes.empty()) {
        const Change& on = changes[chance.below(changes.size())];
        change.deps.push_back({on.id.peer, on.id.counter + atom_count(on) - 1});
        change.lamport = on.lamport + static_cast<Lamport>(atom_count(on));
    }
    change.ops.push_back(
        {ContainerId::root("r", kind), change.id.counter, some_content(kind, change.id, chance)});
    changes.push_back(std::move(change));
}

void mutate_once(std::vector<Change>& changes, Chance& chance) {
    if (changes.empty() || (changes.size() < kMostChanges && chance.one_in(4)))
        return add_change(changes, chance);
    const std::size_t at = chance.below(changes.size());
    switch (chance.below(8)) {
        case 0:
            changes.erase(changes.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        case 1: {
            // Half of it again, as another peer's or out of place.
            const Counter atoms = atom_count(changes[at]);
            Change part = slice(changes[at], atoms / 2, atoms);
            if (chance.one_in(2)) part.id.peer = some_peer(chance);
            renumber(part);
            changes.push_back(std::move(part));
            break;
        }
        case 2:
            std::swap(changes[at], changes[chance.below(changes.size())]);
            break;
        default:
            mutate_change(changes[at], chance);
    }
}

}  // namespace

std::uint64_t Chance::next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
}

void mutate(std::vector<Change>& changes, Chance& chance) {
    // Sums of what is larger would not fit into a counter.
    constexpr Counter kMostAtoms = 1 << 22;
    for (const Change& change : changes) {
        if (change.id.counter > kMostAtoms || atom_count(change) > kMostAtoms) return;
    }
    for (std::size_t n = 1 + chance.below(4); n > 0; --n) mutate_once(changes, chance);
}

void mutate(Value& json, Chance& chance) {
    // A way down, ended by chance.
    Value* at = &json;
    for (;;) {
        const bool stop = chance.one_in(6);
        if (!stop && at->is_list() && !at->as_list().empty()) {
            List& list = at->as_list();
            const std::size_t i = chance.below(list.size());
            if (chance.one_in(8)) {
                list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
                return;
            }
            if (chance.one_in(8)) {
                list.push_back(Value(list[i]));
                return;
            }
            at = &list[i];
        } else if (!stop && at->is_map() && !at->as_map().empty()) {
            Map& map = at->as_map();
            const auto entry = map.begin() + static_cast<std::ptrdiff_t>(chance.below(map.size()));
            if (chance.one_in(12)) {
                map.erase(std::string(entry->key));
                return;
            }
            at = &entry->value;
        } else {
            break;
        }
    }
    if (at->is_int() && !chance.one_in(4)) {
        *at = near(at->as_int(), chance);
    } else if (at->is_string() && !chance.one_in(4)) {
        const OpId id = some_id(chance);
        const std::string text = std::to_string(id.counter) + "@" + std::to_string(id.peer - 1);
        switch (chance.below(5)) {
            case 0:
                *at = text;
                break;
            case 1:
                *at = "L" + text;
                break;
            case 2:
                *at = "cid:" + text + ":Map";
                break;
            case 3:
                *at = "\U0001F99C:cid:" + text + ":List";
                break;
            default:
                *at = at->as_string() + "8";
        }
    } else {
        *at = some_value(chance);
    }
}

}  // namespace quire::fuzz

// Ops are compared and cut by atom, because two replicas may hold the same atoms cut differently:
// one typed a word in one op, the other received it in two. So equality (same_atoms) normalises
// what has several spellings, and slice() must give each part exactly the atoms it covers.
// Everything here is linear in the ops it looks at and copies only what it returns.

#include "crdt/ids/change.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/utf8.h"

namespace quire::crdt {

Counter atom_count(const OpContent& content) {
    if (const auto* insert = std::get_if<TextInsert>(&content)) {
        return static_cast<Counter>(utf8::count_code_points(insert->text));
    }
    if (const auto* insert = std::get_if<ListInsert>(&content)) {
        return static_cast<Counter>(insert->values.size());
    }
    if (const auto* erase = std::get_if<SequenceDelete>(&content)) return std::abs(erase->len);
    return 1;
}

Counter atom_count(const Change& change) {
    Counter total = 0;
    for (const Op& op : change.ops) total += atom_count(op.content);
    return total;
}

namespace {

// Text is cut between code points, lists between values; other content has a single atom.
OpContent slice(const OpContent& content, Counter from, Counter to) {
    const auto skip = static_cast<std::uint32_t>(from);
    const auto size = static_cast<std::size_t>(to - from);
    if (const auto* insert = std::get_if<TextInsert>(&content)) {
        const std::size_t begin = utf8::offset_of_code_point(insert->text, skip);
        return TextInsert{
            insert->pos + skip,
            std::string(utf8::prefix(std::string_view(insert->text).substr(begin), size))};
    }
    if (const auto* insert = std::get_if<ListInsert>(&content)) {
        return ListInsert{insert->pos + skip,
                          {insert->values.begin() + from, insert->values.begin() + to}};
    }
    if (const auto* erase = std::get_if<SequenceDelete>(&content)) {
        const Counter all = std::abs(erase->len);
        // A forward delete stays at its position while the ids go up. Backwards the positions fall,
        // and since `start` is the smallest id, the first atoms of the op have the largest ids.
        if (erase->len > 0) {
            return SequenceDelete{
                erase->pos, to - from, {erase->start.peer, erase->start.counter + from}};
        }
        return SequenceDelete{
            erase->pos - from, from - to, {erase->start.peer, erase->start.counter + (all - to)}};
    }
    return content;
}

// Like ==, except that floats are equal if their bits are.
// NaN equals itself here, and 0.0 differs from -0.0: peers compare what was written, not numbers.
bool same_value(const Value& a, const Value& b) {
    if (a.is_float() && b.is_float()) {
        return std::bit_cast<std::uint64_t>(a.as_float()) ==
               std::bit_cast<std::uint64_t>(b.as_float());
    }
    if (a.is_list() && b.is_list()) {
        return std::equal(a.as_list().begin(), a.as_list().end(), b.as_list().begin(),
                          b.as_list().end(), same_value);
    }
    if (a.is_map() && b.is_map() && a.as_map().size() == b.as_map().size()) {
        return std::all_of(a.as_map().begin(), a.as_map().end(), [&](const Map::Entry& entry) {
            const Value* other = b.get(entry.key);
            return other != nullptr && same_value(entry.value, *other);
        });
    }
    return a == b;
}

bool same_slot(const Slot& a, const Slot& b) {
    const auto* value = std::get_if<Value>(&a);
    const auto* other = std::get_if<Value>(&b);
    return value != nullptr && other != nullptr ? same_value(*value, *other) : a == b;
}

// Equal up to the spellings that mean the same.
bool same_content(const OpContent& a, const OpContent& b) {
    if (a.index() != b.index()) return false;
    if (const auto* insert = std::get_if<ListInsert>(&a)) {
        const auto& other = std::get<ListInsert>(b);
        return insert->pos == other.pos &&
               std::equal(insert->values.begin(), insert->values.end(), other.values.begin(),
                          other.values.end(), same_slot);
    }
    if (const auto* set = std::get_if<MapSet>(&a)) {
        return set->key == std::get<MapSet>(b).key &&
               same_slot(set->value, std::get<MapSet>(b).value);
    }
    if (const auto* set = std::get_if<ListSet>(&a)) {
        const auto& other = std::get<ListSet>(b);
        return set->element == other.element && same_slot(set->value, other.value);
    }
    if (const auto* style = std::get_if<StyleStart>(&a)) {
        const auto& other = std::get<StyleStart>(b);
        return style->start == other.start && style->end == other.end && style->key == other.key &&
               style->info == other.info && same_value(style->value, other.value);
    }
    // A delta is a float, however it was written.
    if (const auto* add = std::get_if<CounterAdd>(&a)) {
        return same_value(add->delta.as_number(), std::get<CounterAdd>(b).delta.as_number());
    }
    if (const auto* erase = std::get_if<SequenceDelete>(&a)) {
        const auto& other = std::get<SequenceDelete>(b);
        // A single deleted atom has no direction.
        if (std::abs(erase->len) == 1 && std::abs(other.len) == 1) {
            return erase->pos == other.pos && erase->start == other.start;
        }
    }
    return a == b;
}

}  // namespace

Op slice(const Op& op, Counter from, Counter to) {
    if (from == 0 && to == atom_count(op.content)) return op;
    return {op.container, op.counter + from, slice(op.content, from, to)};
}

Change slice(const Change& change, Counter from, Counter to) {
    Change part{{change.id.peer, change.id.counter + from},
                change.deps,
                change.lamport + static_cast<Lamport>(from),
                change.timestamp,
                change.message,
                {}};
    // The rest of a change knows what its first part knew, through that part's last atom.
    if (from > 0) part.deps.assign(1, {change.id.peer, change.id.counter + from - 1});
    Counter at = 0;
    for (const Op& op : change.ops) {
        const Counter size = atom_count(op.content);
        const Counter begin = std::max(from, at);
        const Counter end = std::min(to, at + size);
        if (begin < end) part.ops.push_back(slice(op, begin - at, end - at));
        at += size;
    }
    return part;
}

// Walks both lists in parallel and compares the common atoms of each pair of ops.
bool same_atoms(const std::vector<Op>& a, const std::vector<Op>& b) {
    std::size_t i = 0;
    std::size_t k = 0;
    Counter in_a = 0;
    Counter in_b = 0;
    while (i < a.size() && k < b.size()) {
        const Counter left_a = atom_count(a[i].content) - in_a;
        const Counter left_b = atom_count(b[k].content) - in_b;
        const Counter n = std::min(left_a, left_b);
        if (a[i].container != b[k].container || a[i].counter + in_a != b[k].counter + in_b)
            return false;
        if (!same_content(slice(a[i].content, in_a, in_a + n), slice(b[k].content, in_b, in_b + n)))
            return false;
        in_a = n == left_a ? 0 : in_a + n;
        in_b = n == left_b ? 0 : in_b + n;
        i += n == left_a ? 1 : 0;
        k += n == left_b ? 1 : 0;
    }
    return i == a.size() && k == b.size();
}

}  // namespace quire::crdt

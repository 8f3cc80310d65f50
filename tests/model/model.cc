#include "tests/model/model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "tests/model/model_movable.h"
#include "tests/model/model_sequence.h"
#include "tests/model/model_tree.h"

namespace quire::model {

namespace {

using namespace crdt;

struct Entry {
    Lamport lamport = 0;
    PeerId peer = 0;
    OpId id;
    std::optional<Slot> slot;  // None: erased.
};

struct Model {
    explicit Model(Fault planted = Fault::none) : fault(planted) {}

    Fault fault;
    std::map<OpId, Version> before;  // The atoms that each atom has seen.
    std::map<OpId, Lamport> lamports;
    std::map<ContainerId, std::vector<Element>> sequences;
    std::map<ContainerId, std::map<std::string, Entry>> maps;
    std::map<ContainerId, std::vector<TreeOp>> trees;
    std::map<ContainerId, MovableModel> movable_lists;
    std::map<ContainerId, double> counters;
    std::map<ContainerId, bool> touched;
    std::map<OpId, std::uint32_t>
        style_ends;  // The place of a style's end, by the id it will have.

    void apply(const Change& change);
    Value value(const ContainerId& id) const;
    Value slot_value(const Slot& slot, OpId id) const {
        if (const auto* value = std::get_if<Value>(&slot)) {
            const bool turns = fault == Fault::number_type && value->is_int();
            return turns ? Value(static_cast<double>(value->as_int())) : *value;
        }
        return value(ContainerId::normal(id, std::get<ContainerKind>(slot)));
    }
};

void Model::apply(const Change& change) {
    Version version;
    const auto see = [&](const OpId& id) {
        version.merge(Version(before.at(id)));
        version.insert(id);
    };
    for (const OpId& dep : change.deps) see(dep);
    if (change.id.counter > 0) see({change.id.peer, change.id.counter - 1});
    Lamport lamport = 0;
    for (const OpId& id : version) lamport = std::max(lamport, lamports.at(id) + 1);
    for (const Op& whole : change.ops) {
        for (Counter i = 0; i < atom_count(whole.content); ++i) {
            const Op op = slice(whole, i, i + 1);
            const OpId id{change.id.peer, op.counter};
            auto& all = sequences[op.container];
            touched[op.container] = true;
            if (op.container.kind == ContainerKind::movable_list) {
                movable_lists.emplace(op.container, fault)
                    .first->second.apply(op, id, lamport, version);
            } else if (const auto* add = std::get_if<CounterAdd>(&op.content)) {
                counters[op.container] += add->delta.is_int()
                                              ? static_cast<double>(add->delta.as_int())
                                              : add->delta.as_float();
            } else if (const auto* text = std::get_if<TextInsert>(&op.content)) {
                insert(all, {id, {}, {}, {}, text->text, Value()}, text->pos, version, fault);
            } else if (const auto* list = std::get_if<ListInsert>(&op.content)) {
                insert(all, {id, {}, {}, {}, "", list->values[0]}, list->pos, version, fault);
            } else if (const auto* start = std::get_if<StyleStart>(&op.content)) {
                insert(all, {id, {}, {}, {}, "", Value()}, start->start, version, fault);
                style_ends[{id.peer, id.counter + 1}] = start->end + 1;
            } else if (std::holds_alternative<StyleEnd>(op.content)) {
                insert(all, {id, {}, {}, {}, "", Value()}, style_ends.at(id), version, fault);
            } else if (const auto* gone = std::get_if<SequenceDelete>(&op.content)) {
                erase(all, id, static_cast<std::size_t>(gone->pos), version, fault);
            } else if (op.container.kind == ContainerKind::tree) {
                trees[op.container].push_back({lamport, id.peer, op.content});
            } else {
                const auto* set = std::get_if<MapSet>(&op.content);
                const auto* erased = std::get_if<MapErase>(&op.content);
                if (set != nullptr || erased != nullptr) {
                    Entry& entry = maps[op.container][set != nullptr ? set->key : erased->key];
                    const bool is_later =
                        fault == Fault::tie_break ? id.peer <= entry.peer : id.peer >= entry.peer;
                    if (lamport > entry.lamport || (lamport == entry.lamport && is_later)) {
                        entry = {lamport, id.peer, id,
                                 set != nullptr ? std::optional(set->value) : std::nullopt};
                    }
                }
            }
            before[id] = version;
            lamports[id] = lamport++;
            version.insert(id);
        }
    }
}

Value Model::value(const ContainerId& id) const {
    const auto sequence = sequences.find(id);
    if (id.kind == ContainerKind::text) {
        std::string text;
        if (sequence == sequences.end()) return text;
        for (const Element& element : sequence->second)
            text += element.deleted_by.empty() ? element.text : "";
        return text;
    }
    if (id.kind == ContainerKind::list) {
        List list;
        if (sequence == sequences.end()) return list;
        for (const Element& element : sequence->second) {
            if (element.deleted_by.empty()) list.push_back(slot_value(element.slot, element.id));
        }
        return list;
    }
    if (id.kind == ContainerKind::map) {
        Map map;
        const auto entries = maps.find(id);
        if (entries == maps.end()) return map;
        for (const auto& [key, entry] : entries->second) {
            if (entry.slot) map.set(key, slot_value(*entry.slot, entry.id));
        }
        return map;
    }
    if (id.kind == ContainerKind::movable_list) {
        List list;
        const auto found = movable_lists.find(id);
        if (found == movable_lists.end()) return list;
        for (const auto& [atom, slot] : found->second.items())
            list.push_back(slot_value(slot, atom));
        return list;
    }
    if (id.kind == ContainerKind::counter) {
        const auto found = counters.find(id);
        return found == counters.end() ? 0.0 : found->second;
    }
    if (id.kind == ContainerKind::tree) {
        const auto ops = trees.find(id);
        if (ops == trees.end()) return List{};
        return tree_value(ops->second, [&](OpId node) {
            return value(ContainerId::normal(node, ContainerKind::map));
        });
    }
    return nullptr;
}

Model replayed(std::span<const Change> changes, Fault fault = Fault::none) {
    Model model(fault);
    std::vector<const Change*> left;
    for (const Change& change : changes) left.push_back(&change);
    while (!left.empty()) {
        const std::size_t size = left.size();
        std::erase_if(left, [&](const Change* change) {
            const auto known = [&](const OpId& id) { return model.before.contains(id); };
            if (!std::all_of(change->deps.begin(), change->deps.end(), known)) return false;
            if (change->id.counter > 0 && !known({change->id.peer, change->id.counter - 1}))
                return false;
            model.apply(*change);
            return true;
        });
        CHECK(left.size() < size);
    }
    return model;
}

}  // namespace

Value replay(std::span<const Change> changes, Fault fault) {
    const Model model = replayed(changes, fault);
    Map roots;
    for (const auto& [id, touched] : model.touched) {
        if (id.is_root()) roots.set(id.root_name(), model.value(id));
    }
    return roots;
}

bool same_history(std::span<const Change> a, std::span<const Change> b) {
    const auto by_peer = [](std::span<const Change> changes) {
        std::map<PeerId, std::vector<const Change*>> found;
        for (const Change& change : changes) found[change.id.peer].push_back(&change);
        std::map<PeerId, std::vector<Op>> ops;
        for (auto& [peer, theirs] : found) {
            std::sort(theirs.begin(), theirs.end(), [](const Change* one, const Change* other) {
                return one->id.counter < other->id.counter;
            });
            for (const Change* change : theirs)
                ops[peer].insert(ops[peer].end(), change->ops.begin(), change->ops.end());
        }
        return ops;
    };
    const auto ours = by_peer(a);
    const auto theirs = by_peer(b);
    return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      [](const auto& one, const auto& other) {
                          return one.first == other.first && same_atoms(one.second, other.second);
                      });
}

std::vector<Entity> entities(std::span<const Change> changes, const ContainerId& text) {
    const Model model = replayed(changes);
    std::vector<Entity> found;
    const auto sequence = model.sequences.find(text);
    if (sequence == model.sequences.end()) return found;
    for (const Element& element : sequence->second) {
        if (element.deleted_by.empty())
            found.push_back({element.id, model.lamports.at(element.id), element.text});
    }
    return found;
}

}  // namespace quire::model

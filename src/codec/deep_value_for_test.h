// The value of a document, assembled from the states of its containers, in the form of
// loro-crdt's toJSON(): binary data is {"$bytes": hexadecimal}.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/concat.h"
#include "codec/container_ids.h"
#include "codec/snapshot.h"

namespace quire::codec {

class DeepValue {
public:
    explicit DeepValue(const Snapshot& snapshot) : snapshot_(snapshot) {}

    // The values of all roots in the table.
    Value roots() {
        Map value;
        const auto ids = snapshot_.containers(budget_).value();
        for (const crdt::ContainerId& id : ids) {
            if (id.is_root()) value.set(id.root_name(), container(id));
        }
        return Value(std::move(value));
    }

    // The text of `id` in pieces of one style, as toDelta() prints them.
    Value delta(const crdt::ContainerId& id) {
        const auto found = snapshot_.state(id, budget_).value();
        List pieces;
        if (!found) return pieces;
        const auto& state = std::get<TextState>(found->state);
        struct Open {
            StampedId start;
            TextStyle style;
        };
        std::vector<Open> open;
        std::size_t style = 0;
        std::size_t at = 0;
        for (const TextSpan& span : state.spans) {
            if (span.length == kStyleStart) {
                open.push_back({span.first, state.styles[style++]});
            } else if (span.length == kStyleEnd) {
                std::erase_if(open, [&](const Open& one) {
                    return one.start.id ==
                           crdt::OpId{span.first.id.peer, span.first.id.counter - 1};
                });
            } else {
                std::map<std::string, Open> winners;
                for (const Open& one : open) {
                    const auto [entry, is_new] = winners.emplace(one.style.key, one);
                    const auto rank = [](const Open& o) {
                        return std::tuple(o.start.lamport, o.start.id.peer);
                    };
                    if (!is_new && rank(entry->second) < rank(one)) entry->second = one;
                }
                Map attributes;
                for (const auto& [key, one] : winners) {
                    if (!one.style.value.is_null()) attributes.set(key, plain(one.style.value));
                }
                const std::size_t begin = at;
                for (std::int32_t i = 0; i < span.length; ++i) {
                    ++at;
                    while (at < state.text.size() && (state.text[at] & 0xC0) == 0x80) ++at;
                }
                add_piece(pieces, state.text.substr(begin, at - begin), std::move(attributes));
            }
        }
        return pieces;
    }

    Value container(const crdt::ContainerId& id) {
        const auto found = snapshot_.state(id, budget_).value();
        struct Shower {
            DeepValue& self;
            Value operator()(const MapState& state) const {
                Map value;
                for (const MapRegister& entry : state.registers) {
                    if (entry.value) value.set(entry.key, self.slot(*entry.value));
                }
                return value;
            }
            Value operator()(const ListState& state) const { return self.slots(state.values); }
            Value operator()(const TextState& state) const { return Value(state.text); }
            Value operator()(const TreeState& state) const {
                return self.forest(state, std::nullopt);
            }
            Value operator()(const MovableListState& state) const {
                List values;
                for (const MovableElement& element : state.elements)
                    values.push_back(self.slot(element.value));
                return values;
            }
            Value operator()(const CounterState& state) const { return Value(state.value); }
            Value operator()(const UnknownState&) const { return nullptr; }
        };
        if (found) return std::visit(Shower{*this}, found->state);
        // A container that holds nothing may be missing.
        switch (id.kind) {
            case crdt::ContainerKind::map:
                return Map();
            case crdt::ContainerKind::text:
                return "";
            case crdt::ContainerKind::counter:
                return 0;
            case crdt::ContainerKind::list:
            case crdt::ContainerKind::tree:
            case crdt::ContainerKind::movable_list:
                break;
        }
        return List();
    }

    static Value plain(const Value& value) {
        if (value.is_bytes()) {
            std::string digits;
            for (const std::uint8_t byte : value.as_bytes()) {
                for (const int half : {byte >> 4, byte & 15})
                    digits.push_back("0123456789abcdef"[half]);
            }
            return Map{{"$bytes", Value(digits)}};
        }
        if (value.is_list()) {
            List list;
            for (const Value& item : value.as_list()) list.push_back(plain(item));
            return list;
        }
        if (!value.is_map()) return value;
        Map map;
        for (const Map::Entry& entry : value.as_map()) map.set(entry.key, plain(entry.value));
        return map;
    }

private:
    Value slot(const StateSlot& slot) {
        if (const auto* id = std::get_if<crdt::ContainerId>(&slot)) return container(*id);
        return plain(std::get<Value>(slot));
    }

    Value slots(const std::vector<StateSlot>& values) {
        List list;
        for (const StateSlot& value : values) list.push_back(slot(value));
        return list;
    }

    Value forest(const TreeState& state, const std::optional<crdt::OpId>& parent) {
        std::vector<const TreeNode*> nodes;
        for (const TreeNode& node : state.nodes) {
            if (node.parent == parent) nodes.push_back(&node);
        }
        std::sort(nodes.begin(), nodes.end(), [](const TreeNode* a, const TreeNode* b) {
            const auto key = [](const TreeNode* node) {
                return std::tuple(as_text(node->position), node->last_move.lamport,
                                  node->last_move.id.peer);
            };
            return key(a) < key(b);
        });
        const auto name = [](crdt::OpId id) { return Value(cat(id.counter, "@", id.peer)); };
        List forest;
        for (const TreeNode* node : nodes) {
            std::string index;
            for (const std::uint8_t byte : node->position) {
                for (const int half : {byte >> 4, byte & 15})
                    index.push_back("0123456789ABCDEF"[half]);
            }
            Map shown;
            shown.set("parent", parent ? name(*parent) : Value());
            shown.set("index", Value(static_cast<std::int64_t>(forest.size())));
            shown.set("meta",
                      container(crdt::ContainerId::normal(node->id, crdt::ContainerKind::map)));
            shown.set("id", name(node->id));
            shown.set("fractional_index", Value(index));
            shown.set("children", this->forest(state, node->id));
            forest.push_back(Value(std::move(shown)));
        }
        return forest;
    }

    static void add_piece(List& pieces, std::string text, Map attributes) {
        if (!pieces.empty()) {
            Map& last = pieces.back().as_map();
            const Value* before = last.find("attributes");
            if (attributes.empty() ? before == nullptr
                                   : before != nullptr && before->as_map() == attributes) {
                last.set("insert", Value(last.find("insert")->as_string() + text));
                return;
            }
        }
        Map piece;
        piece.set("insert", Value(std::move(text)));
        if (!attributes.empty()) piece.set("attributes", Value(std::move(attributes)));
        pieces.push_back(Value(std::move(piece)));
    }

    const Snapshot& snapshot_;
    Budget budget_ = snapshot_.budget();
};

// Equal but for the type of numbers, which JSON forgets.
inline bool shows_same(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) return a.as_number() == b.as_number();
    if (a.is_list() && b.is_list()) {
        return std::equal(a.as_list().begin(), a.as_list().end(), b.as_list().begin(),
                          b.as_list().end(), shows_same);
    }
    if (a.is_map() && b.is_map()) {
        return a.as_map().size() == b.as_map().size() &&
               std::all_of(a.as_map().begin(), a.as_map().end(), [&](const Map::Entry& entry) {
                   const Value* other = b.get(entry.key);
                   return other != nullptr && shows_same(entry.value, *other);
               });
    }
    return a == b;
}

}  // namespace quire::codec

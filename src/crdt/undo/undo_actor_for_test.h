// An actor who edits a document at random, in all kinds of containers and children of them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/concat.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/doc/tree_values.h"
#include "crdt/ids/container_text.h"
#include "crdt/undo/random_script_for_test.h"
#include "crdt/undo/revert.h"

namespace quire::crdt {

// For people to compare.
inline std::string text_of(const Value& value) {
    if (value.is_map()) {
        std::vector<std::string> entries;
        // A node of a tree that was brought back with its container has another id.
        const bool is_node = value.get("fractional_index") != nullptr;
        for (const auto& [key, inside] : value.as_map()) {
            if (is_node && key == "id") continue;
            entries.push_back(key + ": " + text_of(inside));
        }
        std::sort(entries.begin(), entries.end());
        std::string text = "{";
        for (const std::string& entry : entries) text += entry + ", ";
        return text + "}";
    }
    if (value.is_list()) {
        std::string text = "[";
        for (const Value& inside : value.as_list()) text += text_of(inside) + ", ";
        return text + "]";
    }
    if (value.is_string()) return '"' + value.as_string() + '"';
    if (value.is_float()) return std::to_string(value.as_float());
    return value.is_int() ? std::to_string(value.as_int()) : "null";
}

class Actor {
public:
    Actor(PeerId peer, Tape& tape) : tape_(tape), doc(peer) {}

    std::size_t pick(std::size_t n) { return tape_.pick(n); }

    Handle root(ContainerKind kind) { return doc.open(ContainerId::root(to_text(kind), kind)); }
    // Those of the kind that are alive: a root, and children.
    std::vector<Handle> containers(ContainerKind kind) {
        std::vector<Handle> found = {root(kind)};
        for (const ContainerKind parent : {ContainerKind::map, ContainerKind::list,
                                           ContainerKind::movable_list, ContainerKind::tree})
            collect(root(parent), kind, found);
        return found;
    }
    Handle container(ContainerKind kind) {
        const std::vector<Handle> found = containers(kind);
        return found[pick(found.size())];
    }

    void edit() {
        switch (pick(24)) {
            case 0:
            case 1:
                return type(container(ContainerKind::text));
            case 2:
                return erase_text(container(ContainerKind::text));
            case 3:
                return insert(container(ContainerKind::list));
            case 4:
                return erase_element(container(ContainerKind::list));
            case 5:
                return insert_child(container(ContainerKind::list));
            case 6:
            case 7:
            case 8:
                return set(container(ContainerKind::map));
            case 9:
            case 10:
            case 11:
            case 12:
                return edit_tree(container(ContainerKind::tree));
            case 13:
            case 14:
                return movable_insert(container(ContainerKind::movable_list));
            case 15:
            case 16:
            case 17:
                return edit_movable(container(ContainerKind::movable_list));
            case 18:
                return count(container(ContainerKind::counter));
            case 19:
            case 20:
            case 21:
                return style(container(ContainerKind::text));
            case 22:
                return erase_key(container(ContainerKind::map));
            default:
                return set_child(container(ContainerKind::map));
        }
    }

    // The contents of the actor's own roots.
    Value own() {
        Map own;
        for (const ContainerKind kind :
             {ContainerKind::text, ContainerKind::list, ContainerKind::map, ContainerKind::tree,
              ContainerKind::movable_list, ContainerKind::counter})
            own.set(to_text(kind), doc.value(root(kind)));
        List styled;
        for (const Handle text : containers(ContainerKind::text)) {
            for (const TextStep& step : doc.text(text).delta()) {
                const PutText& part = std::get<PutText>(step);
                styled.push_back(List{part.text, part.attributes});
            }
        }
        own.set("styled", std::move(styled));
        return own;
    }

    // The edits that were made, one a line.
    std::vector<std::string> told;
    bool puts_styles = true;
    // The first edit that was refused.
    std::optional<std::string> refused;

private:
    template <class... Parts>
    void tell(Handle in, const Parts&... parts) {
        told.push_back(cat(to_text(doc.id_of(in)), ": ", parts...));
    }
    template <class Made>
    void must(const Result<Made>& result) {
        if (!result && !refused) refused = cat(told.back(), ": ", result.error().message());
    }

    void type(Handle text);
    void erase_text(Handle text);
    void style(Handle text);
    void insert(Handle list);
    void erase_element(Handle list);
    void insert_child(Handle list);
    void set(Handle map);
    void set_child(Handle map);
    void erase_key(Handle map);
    void edit_tree(Handle tree);
    void set_data(Handle tree, OpId node);
    void movable_insert(Handle list);
    void edit_movable(Handle list);
    void count(Handle counter);

    std::string any_key() { return std::string(1, static_cast<char>('a' + pick(3))); }
    // A child's kind at random.
    ContainerKind kind() {
        return std::array{
            ContainerKind::text, ContainerKind::list,         ContainerKind::map,
            ContainerKind::tree, ContainerKind::movable_list, ContainerKind::counter}[pick(6)];
    }
    void collect(Handle in, ContainerKind kind, std::vector<Handle>& found) {
        for (const ContainerId& child : children(in)) {
            const Handle handle = doc.open(child);
            if (child.kind == kind) found.push_back(handle);
            collect(handle, kind, found);
        }
    }
    std::vector<ContainerId> children(Handle in) {
        std::vector<ContainerId> children;
        switch (doc.id_of(in).kind) {
            case ContainerKind::map:
                for (const std::string& key : doc.map(in).keys()) {
                    if (const auto child = doc.map(in).child(key)) children.push_back(*child);
                }
                break;
            case ContainerKind::list:
                for (std::size_t i = 0; i < doc.list(in).size(); ++i) {
                    if (std::holds_alternative<ContainerKind>(doc.list(in).get(i)))
                        children.push_back(doc.list(in).child(i));
                }
                break;
            case ContainerKind::movable_list:
                for (std::size_t i = 0; i < doc.movable_list(in).size(); ++i) {
                    const Item item = doc.movable_list(in).get(i);
                    if (const auto* child = std::get_if<ContainerId>(&item))
                        children.push_back(*child);
                }
                break;
            case ContainerKind::tree:
                for (const TreeNode& node : doc.tree(in).nodes())
                    children.push_back(*doc.tree(in).meta(node.id));
                break;
            case ContainerKind::text:
            case ContainerKind::counter:
                break;
        }
        return children;
    }

    Tape& tape_;

public:
    Doc doc;
};

}  // namespace quire::crdt

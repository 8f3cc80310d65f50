#include "crdt/undo/undo_actor_for_test.h"

namespace quire::crdt {

void Actor::type(Handle text) {
    const std::size_t at = pick(doc.text(text).rope().code_points().n + 1);
    const std::string what = pick(2) == 0 ? "ab" : "é😀x";
    tell(text, "insert ", at, " ", what);
    must(doc.text(text).insert({at}, what));
}

void Actor::erase_text(Handle text) {
    const std::size_t size = doc.text(text).rope().code_points().n;
    const std::size_t at = pick(size + 1);
    const std::size_t count = pick(std::min<std::size_t>(size - at, 4) + 1);
    tell(text, "erase ", at, " count ", count);
    must(doc.text(text).erase({at}, {count}));
}

void Actor::style(Handle text) {
    const std::size_t size = doc.text(text).rope().code_points().n;
    if (size == 0 || !puts_styles) return;
    const std::size_t begin = pick(size);
    const std::size_t end = begin + 1 + pick(size - begin);
    const std::string style = std::array{"bold", "link", "comment"}[pick(3)];
    if (pick(3) == 0) {
        tell(text, "unmark ", begin, " to ", end, " ", style);
        must(doc.text(text).unmark({begin}, {end}, style));
    } else {
        const auto value = static_cast<std::int64_t>(pick(3));
        tell(text, "mark ", begin, " to ", end, " ", style, " ", value);
        must(doc.text(text).mark({begin}, {end}, style, value));
    }
}

void Actor::insert(Handle list) {
    const auto value = static_cast<std::int64_t>(pick(100));
    const std::size_t at = pick(doc.list(list).size() + 1);
    tell(list, "insert ", at, " value ", value);
    must(doc.list(list).insert(at, value));
}

void Actor::erase_element(Handle list) {
    if (doc.list(list).size() == 0) return;
    const std::size_t at = pick(doc.list(list).size());
    tell(list, "erase ", at);
    must(doc.list(list).erase(at, 1));
}

void Actor::insert_child(Handle list) {
    const ContainerKind child = kind();
    const std::size_t at = pick(doc.list(list).size() + 1);
    tell(list, "insert ", at, " ", to_text(child));
    must(doc.list(list).insert_container(at, child));
}

void Actor::set(Handle map) {
    const auto value = static_cast<std::int64_t>(pick(5));
    const std::string key = any_key();
    tell(map, "set ", key, " ", value);
    must(doc.map(map).set(key, value));
}

void Actor::set_child(Handle map) {
    const ContainerKind child = kind();
    const std::string key = any_key();
    tell(map, "set ", key, " ", to_text(child));
    must(doc.map(map).insert_container(key, child));
}

void Actor::erase_key(Handle map) {
    const std::string key = any_key();
    tell(map, "erase ", key);
    must(doc.map(map).erase(key));
}

void Actor::edit_tree(Handle tree) {
    const std::vector<TreeNode> nodes = doc.tree(tree).nodes();
    const auto node = [&]() -> std::optional<OpId> {
        if (nodes.empty() || pick(3) == 0) return std::nullopt;
        return nodes[pick(nodes.size())].id;
    };
    const auto name = [](std::optional<OpId> id) { return id ? to_text(*id) : "the root"; };
    const std::size_t choice = pick(5);
    if (nodes.empty() || choice < 2) {
        const std::optional<OpId> parent = node();
        const OpId made = doc.tree(tree).create(parent).value();
        tell(tree, "create ", to_text(made), " below ", name(parent));
        if (pick(2) == 0) set_data(tree, made);
        return;
    }
    const OpId chosen = nodes[pick(nodes.size())].id;
    if (choice == 2) {
        tell(tree, "erase ", to_text(chosen));
        must(doc.tree(tree).erase(chosen));
    } else if (choice == 3) {
        set_data(tree, chosen);
    } else {
        const std::optional<OpId> parent = node();
        tell(tree, "move ", to_text(chosen), " below ", name(parent));
        (void)doc.tree(tree).move(chosen, parent);  // Refused where it is a cycle.
    }
}

void Actor::set_data(Handle tree, OpId node) {
    const auto value = static_cast<std::int64_t>(pick(9));
    const Handle data = doc.open(doc.tree(tree).meta(node).value());
    tell(data, "set k ", value);
    must(doc.map(data).set("k", value));
}

void Actor::movable_insert(Handle list) {
    const auto value = static_cast<std::int64_t>(pick(100));
    const std::size_t at = pick(doc.movable_list(list).size() + 1);
    tell(list, "insert ", at, " value ", value);
    must(doc.movable_list(list).insert(at, value));
}

void Actor::edit_movable(Handle list) {
    const std::size_t size = doc.movable_list(list).size();
    if (size == 0) return;
    const std::size_t at = pick(size);
    switch (pick(4)) {
        case 0: {
            const std::size_t count = 1 + pick(std::min<std::size_t>(size - at, 2));
            tell(list, "erase ", at, " count ", count);
            return must(doc.movable_list(list).erase(at, count));
        }
        case 1: {
            const auto value = static_cast<std::int64_t>(pick(100));
            tell(list, "set ", at, " value ", value);
            return must(doc.movable_list(list).set(at, value));
        }
        case 2: {
            const ContainerKind child = kind();
            tell(list, "set ", at, " ", to_text(child));
            return must(doc.movable_list(list).set_container(at, child));
        }
        default: {
            const std::size_t to = pick(size);
            tell(list, "move ", at, " to ", to);
            return must(doc.movable_list(list).move(at, to));
        }
    }
}

void Actor::count(Handle counter) {
    const double by = static_cast<double>(pick(9)) / 4;
    tell(counter, "add ", std::to_string(by));
    must(doc.counter(counter).add(by));
}

}  // namespace quire::crdt

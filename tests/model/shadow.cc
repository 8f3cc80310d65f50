#include "tests/model/shadow.h"

#include <algorithm>
#include <stdexcept>

#include "base/concat.h"
#include "crdt/ids/container_text.h"

namespace quire::model {

using namespace crdt;

namespace {

std::vector<std::string> letters_of(const std::string& utf8) {
    std::vector<std::string> letters;
    for (const char byte : utf8) {
        if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) letters.emplace_back();
        letters.back() += byte;
    }
    return letters;
}

// A place in a sequence, and the steps that a delta takes from there.
template <class Sequence>
class Walk {
public:
    explicit Walk(Sequence& sequence) : sequence_(sequence) {}
    auto begin() { return sequence_.begin() + static_cast<std::ptrdiff_t>(at_); }
    void need(std::size_t count) const {
        if (count > sequence_.size() - at_) throw std::out_of_range("a step goes beyond the end");
    }
    void pass(std::size_t count) {
        need(count);
        at_ += count;
    }
    void erase(std::size_t count) {
        need(count);
        sequence_.erase(begin(), begin() + static_cast<std::ptrdiff_t>(count));
    }

private:
    Sequence& sequence_;
    std::size_t at_ = 0;
};

}  // namespace

void Shadow::apply(Letters& letters, const TextDelta& delta) {
    Walk walk(letters);
    for (const TextStep& step : delta) {
        if (const auto* keep = std::get_if<Retain>(&step)) {
            walk.need(keep->count);
            for (std::size_t i = 0; i < keep->count; ++i) {
                Map& styles = (walk.begin() + static_cast<std::ptrdiff_t>(i))->styles;
                for (const Map::Entry& style : keep->attributes) {
                    if (style.value.is_null()) {
                        styles.erase(style.key);
                    } else {
                        styles.set(style.key, style.value);
                    }
                }
            }
            walk.pass(keep->count);
        } else if (const auto* erase = std::get_if<Erase>(&step)) {
            walk.erase(erase->count);
        } else {
            const auto& put = std::get<PutText>(step);
            Letters fresh;
            for (std::string& letter : letters_of(put.text))
                fresh.push_back({std::move(letter), put.attributes});
            letters.insert(walk.begin(), fresh.begin(), fresh.end());
            walk.pass(fresh.size());
        }
    }
}

void Shadow::apply(Items& items, const ListDelta& delta) {
    Walk walk(items);
    for (const ListStep& step : delta) {
        if (const auto* keep = std::get_if<Retain>(&step)) {
            walk.pass(keep->count);
        } else if (const auto* erase = std::get_if<Erase>(&step)) {
            walk.erase(erase->count);
        } else {
            const auto& put = std::get<PutItems>(step);
            items.insert(walk.begin(), put.items.begin(), put.items.end());
            walk.pass(put.items.size());
        }
    }
}

void Shadow::apply(Entries& entries, const MapDelta& delta) {
    for (const MapChange& change : delta) {
        if (change.item) {
            entries.insert_or_assign(change.key, *change.item);
        } else if (entries.erase(change.key) == 0) {
            throw std::out_of_range(cat("there is no key ", change.key, " to go"));
        }
    }
}

void Shadow::apply(Forest& forest, const TreeDelta& delta) {
    const auto take_out = [&](const TreeAction& action) {
        auto& siblings = forest.children[action.old_parent];
        if (siblings.at(action.old_index) != action.target)
            throw std::out_of_range("another node is at the old index");
        siblings.erase(siblings.begin() + static_cast<std::ptrdiff_t>(action.old_index));
    };
    const auto put_in = [&](const TreeAction& action) {
        if (action.parent) forest.nodes.at(*action.parent);
        auto& siblings = forest.children[action.parent];
        if (action.index > siblings.size()) throw std::out_of_range("an index beyond the end");
        siblings.insert(siblings.begin() + static_cast<std::ptrdiff_t>(action.index),
                        action.target);
        forest.nodes[action.target] = {action.parent, action.position};
    };
    for (const TreeAction& action : delta) {
        switch (action.kind) {
            case TreeAction::Kind::create:
                if (forest.nodes.contains(action.target))
                    throw std::out_of_range("a node is made twice");
                put_in(action);
                break;
            case TreeAction::Kind::move:
                forest.nodes.at(action.target);
                take_out(action);
                put_in(action);
                break;
            case TreeAction::Kind::erase: {
                forest.nodes.at(action.target);
                take_out(action);
                std::vector<OpId> gone{action.target};
                for (std::size_t i = 0; i < gone.size(); ++i) {
                    const OpId node = gone[i];
                    forest.nodes.erase(node);
                    const auto below = forest.children[node];
                    gone.insert(gone.end(), below.begin(), below.end());
                    forest.children.erase(node);
                }
                break;
            }
        }
    }
}

void Shadow::apply(double& sum, const CounterDelta& delta) {
    sum += delta.increment;
}

void Shadow::apply(const Diff& diff) {
    for (const ContainerDiff& part : diff) {
        if (const auto* text = std::get_if<TextDelta>(&part.delta))
            change<Letters>(part.container, *text);
        if (const auto* list = std::get_if<ListDelta>(&part.delta))
            change<Items>(part.container, *list);
        if (const auto* map = std::get_if<MapDelta>(&part.delta))
            change<Entries>(part.container, *map);
        if (const auto* tree = std::get_if<TreeDelta>(&part.delta))
            change<Forest>(part.container, *tree);
        if (const auto* counter = std::get_if<CounterDelta>(&part.delta))
            change<double>(part.container, *counter);
    }
    // The shadow forgets containers that cannot be reached: if one comes back, a diff tells all of
    // it.
    std::set<ContainerId> found;
    for (const auto& [id, content] : containers_) {
        if (id.is_root()) reach(id, found);
    }
    std::erase_if(containers_, [&](const auto& entry) { return !found.contains(entry.first); });
}

void Shadow::reach(const ContainerId& id, std::set<ContainerId>& found) const {
    found.insert(id);
    const auto at = containers_.find(id);
    if (at == containers_.end()) return;
    const auto go = [&](const Item& item) {
        if (const auto* child = std::get_if<ContainerId>(&item)) reach(*child, found);
    };
    if (const auto* items = std::get_if<Items>(&at->second)) {
        for (const Item& item : *items) go(item);
    } else if (const auto* entries = std::get_if<Entries>(&at->second)) {
        for (const auto& [key, item] : *entries) go(item);
    } else if (const auto* forest = std::get_if<Forest>(&at->second)) {
        for (const auto& [node, where] : forest->nodes)
            go(ContainerId::normal(node, ContainerKind::map));
    }
}

Value Shadow::value() const {
    Map roots;
    for (const auto& [id, content] : containers_) {
        if (id.is_root()) roots.set(id.root_name(), value(id));
    }
    return without_empty_roots(roots);
}

Value Shadow::value(const Item& item) const {
    if (const auto* plain = std::get_if<Value>(&item)) return *plain;
    return value(std::get<ContainerId>(item));
}

Value Shadow::value(const ContainerId& id) const {
    const auto at = containers_.find(id);
    if (at == containers_.end() || std::holds_alternative<std::monostate>(at->second)) {
        switch (id.kind) {
            case ContainerKind::text:
                return "";
            case ContainerKind::map:
                return Map{};
            case ContainerKind::counter:
                return 0.0;
            case ContainerKind::list:
            case ContainerKind::movable_list:
            case ContainerKind::tree:
                return List{};
        }
    }
    if (const auto* letters = std::get_if<Letters>(&at->second)) {
        std::string text;
        for (const Letter& letter : *letters) text += letter.utf8;
        return text;
    }
    if (const auto* items = std::get_if<Items>(&at->second)) {
        List list;
        for (const Item& item : *items) list.push_back(value(item));
        return list;
    }
    if (const auto* entries = std::get_if<Entries>(&at->second)) {
        Map map;
        for (const auto& [key, item] : *entries) map.append(key, value(item));
        return map;
    }
    if (const auto* forest = std::get_if<Forest>(&at->second)) return nodes(*forest, std::nullopt);
    return std::get<double>(at->second);
}

Value Shadow::nodes(const Forest& forest, const std::optional<OpId>& parent) const {
    List list;
    const auto below = forest.children.find(parent);
    if (below == forest.children.end()) return list;
    for (std::size_t i = 0; i < below->second.size(); ++i) {
        const OpId node = below->second[i];
        std::string position;
        for (const std::uint8_t byte : forest.nodes.at(node).position) {
            position += "0123456789ABCDEF"[byte >> 4];
            position += "0123456789ABCDEF"[byte & 15];
        }
        list.push_back(Map{{"id", to_text(node)},
                           {"index", i},
                           {"fractional_index", position},
                           {"meta", value(ContainerId::normal(node, ContainerKind::map))},
                           {"children", nodes(forest, node)}});
    }
    return list;
}

TextDelta Shadow::text(const ContainerId& id) const {
    TextDelta delta;
    const auto content = containers_.find(id);
    if (content == containers_.end()) return delta;
    for (const Letter& letter : std::get<Letters>(content->second)) {
        std::map<std::string, Value> sorted;
        for (const auto& [key, value] : letter.styles) sorted.emplace(key, value);
        Map styles;
        for (const auto& [key, value] : sorted) styles.append(key, value);
        put(delta, letter.utf8, styles);
    }
    return delta;
}

Value nameless(const Value& value) {
    if (value.is_list()) {
        List list;
        for (const Value& item : value.as_list()) list.push_back(nameless(item));
        return list;
    }
    if (!value.is_map()) return value;
    Map map;
    for (const Map::Entry& entry : value.as_map()) {
        if (entry.key != "id" && entry.key != "fractional_index")
            map.append(entry.key, nameless(entry.value));
    }
    return map;
}

Value without_empty_roots(const Value& value) {
    Map kept;
    for (const Map::Entry& root : value.as_map()) {
        const Value& v = root.value;
        const bool empty =
            (v.is_string() && v.as_string().empty()) || (v.is_list() && v.as_list().empty()) ||
            (v.is_map() && v.as_map().empty()) || (v.is_float() && v.as_float() == 0);
        if (!empty) kept.append(root.key, v);
    }
    return kept;
}

}  // namespace quire::model

// Applying a diff: local edits that do what it says. All of it is checked first, on what the
// containers would hold by then, so that edits are only made once nothing can fail.
//
// A diff comes from another version, perhaps of another document. Its names are therefore not the
// names here: a child container and a tree's node are named after the op that makes them, and that
// op is written only now. `actual_` and `nodes_` map the diff's names to the ones that were made. A
// diff lists parents before children, so a name is known before its part comes.
#include "crdt/doc/apply.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <variant>

#include "base/check.h"
#include "base/utf8.h"
#include "crdt/doc/body.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/limits.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/movable_list.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"
#include "crdt/doc/tree_values.h"
#include "crdt/ids/container_text.h"
#include "crdt/ids/mergeable.h"

namespace quire::crdt {

namespace {

Failure misfit(const ContainerId& id, std::string_view what) {
    return invalid("invalid_diff",
                   "the diff of " + to_text(id) + " does not fit: " + std::string(what));
}

bool fits(ContainerKind kind, const Delta& delta) {
    switch (kind) {
        case ContainerKind::text:
            return std::holds_alternative<TextDelta>(delta);
        case ContainerKind::list:
        case ContainerKind::movable_list:
            return std::holds_alternative<ListDelta>(delta);
        case ContainerKind::map:
            return std::holds_alternative<MapDelta>(delta);
        case ContainerKind::tree:
            return std::holds_alternative<TreeDelta>(delta);
        case ContainerKind::counter:
            return std::holds_alternative<CounterDelta>(delta);
    }
    return false;
}

// Returns true if a sequence of this size has everything that the steps go over.
bool reaches(std::size_t size, const ListDelta& steps) {
    for (const ListStep& step : steps) {
        const auto* keep = std::get_if<Retain>(&step);
        const auto* erase = std::get_if<Erase>(&step);
        const std::size_t count = keep != nullptr    ? keep->count
                                  : erase != nullptr ? erase->count
                                                     : 0;
        if (count > size) return false;
        size -= count;
    }
    return true;
}

// Checks that an empty text can take the delta. The container does not exist before the diff is
// applied, so a text of a scratch document with the same styles stands in for it.
Result<void> fits_new_text(const Doc& doc, const TextDelta& delta) {
    Doc scratch(doc.peer());
    scratch.settings() = body_of(doc).settings;
    return scratch.text(scratch.open(ContainerId::root("t", ContainerKind::text))).apply(delta);
}

// The parents of a tree's nodes, as actions change them. The actions are tried out here one after
// another, because one may use a node that another made. An action costs O(depth) map lookups, an
// erase one for each node below.
class Branches {
public:
    explicit Branches(const std::vector<TreeNode>& nodes) {
        for (const TreeNode& node : nodes) put(node.id, node.parent);
    }

    // False, and unchanged, where the action cannot be done.
    bool apply(const TreeAction& action) {
        const bool is_there = parents_.contains(action.target);
        if (action.kind == TreeAction::Kind::erase) {
            if (is_there) erase(action.target);
            return is_there;
        }
        if (is_there != (action.kind == TreeAction::Kind::move)) return false;
        for (std::optional<OpId> up = action.parent; up; up = parents_.at(*up)) {
            if (*up == action.target || !parents_.contains(*up)) return false;
        }
        const bool stays = is_there && parents_.at(action.target) == action.parent;
        if (action.index > children_[action.parent].size() - (stays ? 1 : 0)) return false;
        if (is_there) children_[parents_.at(action.target)].erase(action.target);
        put(action.target, action.parent);
        return true;
    }

private:
    void put(OpId node, const std::optional<OpId>& parent) {
        parents_[node] = parent;
        children_[parent].insert(node);
    }
    void erase(OpId node) {
        children_[parents_.at(node)].erase(node);
        std::vector<OpId> gone{node};
        while (!gone.empty()) {
            const OpId next = gone.back();
            gone.pop_back();
            parents_.erase(next);
            const auto below = children_.find(next);
            if (below == children_.end()) continue;
            gone.insert(gone.end(), below->second.begin(), below->second.end());
            children_.erase(below);
        }
    }

    std::map<OpId, std::optional<OpId>> parents_;
    std::map<std::optional<OpId>, std::set<OpId>> children_;
};

bool is_mergeable(const ContainerId& id) {
    return mergeable_parent(id) && id.kind <= ContainerKind::counter;
}

class DiffApplier {
public:
    DiffApplier(Doc& doc, DocBody& body) : doc_(doc), body_(body) {}

    Result<void> check(const Diff& diff);
    void apply(const Diff& diff);

private:
    // The container of the document that a part is for; none if it is not alive.
    std::optional<Handle> target(const ContainerId& id);
    void made(const ContainerId& wanted, const ContainerId& actual) { actual_[wanted] = actual; }

    Result<void> check_part(const ContainerDiff& part, bool is_new);
    // The children in what the delta of a movable list erases.
    std::set<ContainerId> taken(Handle list, const ListDelta& delta) const;
    void apply_list(Handle list, const ListDelta& delta);
    void apply_map(Handle map, const MapDelta& delta);
    void show_mergeable(Handle map, const std::string& key, const ContainerId& child);
    void clear(Handle handle);
    // The fate of each element of a list, and the elements that the list shall hold: old ones by
    // their index, and new ones.
    struct MovablePlan {
        enum class Fate { stays, goes, moves };
        std::vector<Fate> fates;
        std::vector<std::variant<std::size_t, Item>> wanted;
    };
    MovablePlan plan_movable(Handle list, const ListDelta& delta) const;
    void apply_movable(Handle list, const ListDelta& delta);
    void apply_tree(Handle tree, const TreeDelta& delta);
    OpId write_node(Handle tree, const TreeAction& action);
    OpId node(OpId wanted) const {
        const auto known = nodes_.find(wanted);
        return known != nodes_.end() ? known->second : wanted;
    }

    Doc& doc_;
    DocBody& body_;
    std::set<ContainerId> will_be_made_;
    std::map<OpId, OpId> nodes_;                 // From a node's id in the diff.
    std::map<ContainerId, ContainerId> actual_;  // From a container's name in the diff.
};

// The container is looked for again when its part is applied: an earlier part may have erased what
// held the container, and the part is then skipped.
std::optional<Handle> DiffApplier::target(const ContainerId& id) {
    const auto known = actual_.find(id);
    const Handle handle = doc_.open(known != actual_.end() ? known->second : id);
    if (!doc_.is_alive(handle)) return std::nullopt;
    return handle;
}

// --- checking ---

Result<void> DiffApplier::check(const Diff& diff) {
    std::set<ContainerId> named;
    for (const ContainerDiff& part : diff) {
        // A second part would find what the first has changed.
        if (!named.insert(part.container).second) return misfit(part.container, "it comes twice");
        if (!fits(part.container.kind, part.delta))
            return misfit(part.container, "it is one of another kind");
        const bool is_new = will_be_made_.contains(part.container);
        const Handle handle = doc_.open(part.container);
        if (!is_new && !doc_.is_alive(handle)) continue;
        if (!is_new && body_.editable(handle, part.container.kind) == nullptr)
            return body_.refuse(handle, part.container.kind);
        TRY(check_part(part, is_new));
    }
    return {};
}

Result<void> DiffApplier::check_part(const ContainerDiff& part, bool is_new) {
    const Handle handle = doc_.open(part.container);
    if (const auto* text = std::get_if<TextDelta>(&part.delta)) {
        Result<void> sound = is_new ? fits_new_text(doc_, *text)
                                    : body_.container(handle).as<TextBody>().check_delta(
                                          {body_, body_.container(handle)}, *text);
        if (!sound) return misfit(part.container, sound.error().message());
    } else if (const auto* list = std::get_if<ListDelta>(&part.delta)) {
        const std::size_t size = is_new ? 0
                                 : part.container.kind == ContainerKind::list
                                     ? doc_.list(handle).size()
                                     : doc_.movable_list(handle).size();
        if (!reaches(size, *list)) return misfit(part.container, "it goes beyond the end");
        // Erased ones count as well: they may go only after others have come.
        std::size_t entities = is_new ? 0 : body_.container(handle).sequence()->size;
        std::set<ContainerId> gone;
        if (!is_new && part.container.kind == ContainerKind::movable_list)
            gone = taken(handle, *list);
        for (const ListStep& step : *list) {
            const auto* put = std::get_if<PutItems>(&step);
            if (put == nullptr) continue;
            entities += put->items.size();
            for (const Item& item : put->items) {
                // A child that goes in one place and comes in another is moved, the first time.
                const auto* child = std::get_if<ContainerId>(&item);
                if (child != nullptr && gone.erase(*child) == 0) will_be_made_.insert(*child);
            }
        }
        if (entities > kMaxSize) return misfit(part.container, "it makes the list too large");
    } else if (const auto* map = std::get_if<MapDelta>(&part.delta)) {
        for (const MapChange& change : *map) {
            if (!utf8::is_valid(change.key))
                return misfit(part.container, "it names a key that is not UTF-8");
            // A mergeable child that is shown already is not made again.
            const auto* child = change.item ? std::get_if<ContainerId>(&*change.item) : nullptr;
            const bool is_shown = !is_new && child != nullptr && is_mergeable(*child) &&
                                  doc_.map(handle).child(change.key) == *child;
            if (child != nullptr && !is_shown) will_be_made_.insert(*child);
        }
    } else if (const auto* tree = std::get_if<TreeDelta>(&part.delta)) {
        Branches branches(is_new ? std::vector<TreeNode>() : doc_.tree(handle).nodes());
        for (const TreeAction& action : *tree) {
            if (!branches.apply(action)) {
                return misfit(part.container, "the node " + to_text(action.target) +
                                                  " cannot be made, moved or erased so");
            }
            if (action.kind == TreeAction::Kind::create)
                will_be_made_.insert(ContainerId::normal(action.target, ContainerKind::map));
        }
    } else {
        // Only the addition is checked, like a local one: the sum may go beyond all numbers.
        if (!std::isfinite(std::get<CounterDelta>(part.delta).increment))
            return misfit(part.container, "a counter adds finite numbers only");
    }
    return {};
}

std::set<ContainerId> DiffApplier::taken(Handle list, const ListDelta& delta) const {
    std::set<ContainerId> children;
    std::size_t at = 0;
    for (const ListStep& step : delta) {
        if (const auto* keep = std::get_if<Retain>(&step)) at += keep->count;
        const auto* erased = std::get_if<Erase>(&step);
        for (std::size_t i = 0; erased != nullptr && i < erased->count; ++i) {
            const Item item = doc_.movable_list(list).get(at++);
            if (const auto* child = std::get_if<ContainerId>(&item)) children.insert(*child);
        }
    }
    return children;
}

// --- applying ---

void DiffApplier::apply(const Diff& diff) {
    for (const ContainerDiff& part : diff) {
        const std::optional<Handle> handle = target(part.container);
        if (!handle) continue;
        if (const auto* text = std::get_if<TextDelta>(&part.delta))
            CHECK(doc_.text(*handle).apply(*text));
        if (const auto* list = std::get_if<ListDelta>(&part.delta)) {
            if (part.container.kind == ContainerKind::list) {
                apply_list(*handle, *list);
            } else {
                apply_movable(*handle, *list);
            }
        }
        if (const auto* tree = std::get_if<TreeDelta>(&part.delta)) apply_tree(*handle, *tree);
        if (const auto* counter = std::get_if<CounterDelta>(&part.delta)) {
            if (counter->increment != 0)
                CHECK(doc_.counter(*handle).add(counter->increment).has_value());
        }
        if (const auto* map = std::get_if<MapDelta>(&part.delta)) apply_map(*handle, *map);
    }
}

void DiffApplier::apply_list(Handle list, const ListDelta& delta) {
    std::size_t at = 0;
    for (const ListStep& step : delta) {
        if (const auto* keep = std::get_if<Retain>(&step)) {
            at += keep->count;
        } else if (const auto* erase = std::get_if<Erase>(&step)) {
            CHECK(doc_.list(list).erase(at, erase->count));
        } else {
            for (const Item& item : std::get<PutItems>(step).items) {
                if (const auto* child = std::get_if<ContainerId>(&item)) {
                    made(*child, *doc_.list(list).insert_container(at++, child->kind));
                } else {
                    CHECK(doc_.list(list).insert(at++, std::get<Value>(item)));
                }
            }
        }
    }
}

void DiffApplier::apply_map(Handle map, const MapDelta& delta) {
    for (const MapChange& change : delta) {
        if (!change.item) {
            // An erase of a key that is not set would leave an op that nobody sees.
            if (doc_.map(map).get(change.key)) CHECK(doc_.map(map).erase(change.key));
        } else if (const auto* child = std::get_if<ContainerId>(&*change.item)) {
            if (is_mergeable(*child)) {
                show_mergeable(map, change.key, *child);
            } else {
                made(*child, *doc_.map(map).insert_container(change.key, child->kind));
            }
        } else {
            CHECK(doc_.map(map).set(change.key, std::get<Value>(*change.item)));
        }
    }
}

// A mergeable child may hold what was written to it before it was hidden. The diff holds all of it,
// so that it begins anew.
void DiffApplier::show_mergeable(Handle map, const std::string& key, const ContainerId& child) {
    const ContainerId& holder = doc_.id_of(map);
    const Value marker = mergeable_marker(holder, key, child.kind);
    const ContainerId here = mergeable_child(holder, key, marker).value();
    const bool was_shown = doc_.map(map).child(key) == here;
    CHECK(doc_.map(map).set(key, marker));
    if (!was_shown) clear(doc_.open(here));
    made(child, here);
}

void DiffApplier::clear(Handle handle) {
    switch (doc_.id_of(handle).kind) {
        case ContainerKind::text:
            CHECK(doc_.text(handle).erase({0}, doc_.text(handle).rope().code_points()));
            break;
        case ContainerKind::list:
            CHECK(doc_.list(handle).erase(0, doc_.list(handle).size()));
            break;
        case ContainerKind::movable_list:
            CHECK(doc_.movable_list(handle).erase(0, doc_.movable_list(handle).size()));
            break;
        case ContainerKind::map:
            for (const std::string& key : doc_.map(handle).keys())
                CHECK(doc_.map(handle).erase(key));
            break;
        case ContainerKind::tree:
            for (const TreeNode& node : doc_.tree(handle).nodes()) {
                if (node.depth == 0) CHECK(doc_.tree(handle).erase(node.id));
            }
            break;
        case ContainerKind::counter:
            CHECK(doc_.counter(handle).bring_to(0).has_value());
            break;
    }
}

// A child that the delta takes out in one place and puts in another is moved.
DiffApplier::MovablePlan DiffApplier::plan_movable(Handle list, const ListDelta& delta) const {
    using Fate = MovablePlan::Fate;
    MovablePlan plan{std::vector<Fate>(doc_.movable_list(list).size(), Fate::stays), {}};
    auto& [fates, wanted] = plan;
    std::map<ContainerId, std::size_t> children;  // That go, by where they were.
    std::size_t at = 0;
    for (const ListStep& step : delta) {
        if (const auto* keep = std::get_if<Retain>(&step)) {
            for (std::size_t i = 0; i < keep->count; ++i) wanted.emplace_back(at++);
        } else if (const auto* erase = std::get_if<Erase>(&step)) {
            for (std::size_t i = 0; i < erase->count; ++i, ++at) {
                fates[at] = Fate::goes;
                const Item item = doc_.movable_list(list).get(at);
                if (const auto* child = std::get_if<ContainerId>(&item)) children[*child] = at;
            }
        } else {
            for (const Item& item : std::get<PutItems>(step).items) wanted.emplace_back(item);
        }
    }
    while (at < fates.size()) wanted.emplace_back(at++);
    for (auto& each : wanted) {
        const auto* item = std::get_if<Item>(&each);
        const auto* child = item == nullptr ? nullptr : std::get_if<ContainerId>(item);
        if (child == nullptr) continue;
        const auto known = actual_.find(*child);
        const auto from = children.find(known != actual_.end() ? known->second : *child);
        if (from == children.end()) continue;
        fates[from->second] = Fate::moves;
        each = from->second;
        children.erase(from);
    }
    return plan;
}

// The elements that stay keep their order, so everything else is done left to right: `now` has the
// old index of each element, and everything before `at` is as it shall be, apart from elements that
// have yet to be moved.
void DiffApplier::apply_movable(Handle list, const ListDelta& delta) {
    using Fate = MovablePlan::Fate;
    const auto [fates, wanted] = plan_movable(list, delta);
    std::vector<std::size_t> now;
    for (std::size_t i = fates.size(); i-- > 0;) {
        if (fates[i] == Fate::goes) {
            CHECK(doc_.movable_list(list).erase(i, 1).has_value());
        } else {
            now.push_back(i);
        }
    }
    std::reverse(now.begin(), now.end());
    const auto place = [&](std::size_t index) {
        return now.begin() + static_cast<std::ptrdiff_t>(index);
    };
    std::size_t at = 0;
    for (const auto& each : wanted) {
        if (const auto* item = std::get_if<Item>(&each)) {
            if (const auto* child = std::get_if<ContainerId>(item)) {
                made(*child, *doc_.movable_list(list).insert_container(at, child->kind));
            } else {
                CHECK(doc_.movable_list(list).insert(at, std::get<Value>(*item)).has_value());
            }
            // No old element has this index, so no search for one finds it.
            now.insert(place(at++), fates.size());
            continue;
        }
        const std::size_t old = std::get<std::size_t>(each);
        const auto from =
            static_cast<std::size_t>(std::find(now.begin(), now.end(), old) - now.begin());
        if (fates[old] == Fate::stays) {
            at = from + 1;
            continue;
        }
        // An element from before `at` leaves a gap there, so that the goal moves one to the left.
        const std::size_t to = from < at ? at - 1 : at++;
        if (from == to) continue;
        CHECK(doc_.movable_list(list).move(from, to).has_value());
        now.erase(place(from));
        now.insert(place(to), old);
    }
}

// Nodes go by the positions that they had; where other siblings have come between, by index.
OpId DiffApplier::write_node(Handle tree, const TreeAction& action) {
    const bool is_new = action.kind == TreeAction::Kind::create;
    const std::optional<OpId> parent =
        action.parent ? std::optional(node(*action.parent)) : std::nullopt;
    OpId id = node(action.target);
    if (action.position.empty()) {
        if (is_new) return *doc_.tree(tree).create(parent, action.index);
        CHECK(doc_.tree(tree).move(id, parent, action.index).has_value());
        return id;
    }
    Container& c = body_.container(tree);
    if (is_new) {
        id = body_.journal().next_id();
        c.as<TreeBody>().write({body_, c}, TreeCreate{id, parent, action.position});
    } else {
        c.as<TreeBody>().write({body_, c}, TreeMove{id, parent, action.position});
    }
    if (doc_.tree(tree).node(id)->index != action.index)
        CHECK(doc_.tree(tree).move(id, parent, action.index).has_value());
    return id;
}

void DiffApplier::apply_tree(Handle tree, const TreeDelta& delta) {
    for (const TreeAction& action : delta) {
        if (action.kind == TreeAction::Kind::erase) {
            CHECK(doc_.tree(tree).erase(node(action.target)).has_value());
            continue;
        }
        const OpId id = write_node(tree, action);
        if (action.kind == TreeAction::Kind::move) continue;
        nodes_[action.target] = id;
        made(ContainerId::normal(action.target, ContainerKind::map),
             ContainerId::normal(id, ContainerKind::map));
    }
}

}  // namespace

Result<void> apply_diff(Doc& doc, const Diff& diff) {
    if (body_of(doc).at() != nullptr) return DocBody::refuse_detached();
    DiffApplier applier(doc, body_of(doc));
    TRY(applier.check(diff));
    applier.apply(diff);
    return {};
}

}  // namespace quire::crdt

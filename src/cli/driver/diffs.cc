// Diffs and events to JSON and back.
//
// Each kind of container has its own shape of delta, with a writer and a reader; that of a text is
// in richtext.h. Reading checks every member, because the JSON comes from another program.
//
//   container of kind   delta
//   Text                {text: [{retain | insert | delete, attributes?}]}
//   List, MovableList   {list: [{retain | insert: [items] | delete}]}
//   Map                 {map: {updated: {key: item}, nulls?: [key]}}
//   Tree                {tree: [{action, target, parent, index, fractional_index, ...}]}
//   Counter             {counter: number}
//
// Reading checks the form alone. A position or container that the document does not have is the
// concern of crdt::apply_diff().
#include "cli/driver/diffs.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/hex.h"
#include "cli/driver/request.h"
#include "cli/driver/richtext.h"
#include "crdt/ids/container_text.h"
#include "json/members.h"

namespace quire::cli {
namespace {

using crdt::ContainerId;
using crdt::Item;
using crdt::OpId;
using crdt::TreeAction;

// The words of the actions of a tree, for both directions.
struct Action {
    TreeAction::Kind kind;
    std::string_view word;
};
constexpr std::array kActions = {Action{TreeAction::Kind::create, "create"},
                                 Action{TreeAction::Kind::move, "move"},
                                 Action{TreeAction::Kind::erase, "delete"}};

// --- to JSON ---

Value item_json(const Item& item) {
    if (const auto* child = std::get_if<ContainerId>(&item))
        return Map{{"$container", crdt::to_text(*child)}};
    return std::get<Value>(item);
}

Value node_json(const std::optional<OpId>& node) {
    return node ? Value(crdt::to_text(*node)) : Value();
}

Value list_json(const crdt::ListDelta& delta) {
    List steps;
    for (const crdt::ListStep& step : delta) {
        if (const auto* keep = std::get_if<crdt::Retain>(&step)) {
            steps.push_back(Map{{"retain", keep->count}});
        } else if (const auto* erase = std::get_if<crdt::Erase>(&step)) {
            steps.push_back(Map{{"delete", erase->count}});
        } else {
            List items;
            for (const Item& item : std::get<crdt::PutItems>(step).items)
                items.push_back(item_json(item));
            steps.push_back(Map{{"insert", std::move(items)}});
        }
    }
    return steps;
}

// An action has the members that it can have: a deleted node has no new place, a created one no old
// place.
Value tree_json(const crdt::TreeDelta& delta) {
    List actions;
    for (const TreeAction& action : delta) {
        const bool goes = action.kind == TreeAction::Kind::erase;
        Map map;
        map.append("action", std::ranges::find(kActions, action.kind, &Action::kind)->word);
        map.append("target", crdt::to_text(action.target));
        if (!goes) {
            map.append("parent", node_json(action.parent));
            map.append("index", action.index);
            map.append("fractional_index", to_hex(action.position, kUpperHex));
        }
        if (action.kind != TreeAction::Kind::create) {
            map.append("old_parent", node_json(action.old_parent));
            map.append("old_index", action.old_index);
        }
        actions.push_back(std::move(map));
    }
    return actions;
}

struct DeltaJson {
    Value operator()(const crdt::TextDelta& delta) const { return Map{{"text", to_json(delta)}}; }
    Value operator()(const crdt::ListDelta& delta) const { return Map{{"list", list_json(delta)}}; }
    // JSON has one null for two cases: the key was deleted, or its value is null. A deletion is far
    // more frequent, so `nulls` names the keys of the other case.
    Value operator()(const crdt::MapDelta& delta) const {
        Map updated;
        List nulls;
        for (const crdt::MapChange& change : delta) {
            Value item = change.item ? item_json(*change.item) : Value();
            if (change.item && item.is_null()) nulls.emplace_back(change.key);
            updated.append(change.key, std::move(item));
        }
        Map map{{"updated", std::move(updated)}};
        if (!nulls.empty()) map.append("nulls", std::move(nulls));
        return Map{{"map", std::move(map)}};
    }
    Value operator()(const crdt::TreeDelta& delta) const { return Map{{"tree", tree_json(delta)}}; }
    Value operator()(const crdt::CounterDelta& delta) const {
        return Map{{"counter", delta.increment}};
    }
};

// A step of the path to a container: a key of a map, an index of a list or a node of a tree.
struct StepJson {
    Value operator()(const std::string& key) const { return key; }
    Value operator()(std::size_t index) const { return static_cast<std::int64_t>(index); }
    Value operator()(OpId node) const { return crdt::to_text(node); }
};

// --- from JSON ---

Failure no_diff(std::string_view why) {
    return invalid("invalid_argument", cat("`diff` is no diff: ", why));
}

Result<std::size_t> count_from(const Value& value) {
    if (!value.is_int() || value.as_int() < 0)
        return no_diff("counts and indexes are whole numbers, 0 or more");
    return static_cast<std::size_t>(value.as_int());
}

// An object with `$container` stands for a child that the diff has an entry for. Everything else is
// a value, in which {"$bytes": base64} is bytes.
Result<Item> item_from(const Value& value) {
    const Value* child = value.get("$container");
    if (child == nullptr) return Item(TRY(plain(value)));
    const auto id =
        child->is_string() ? crdt::parse_container_id(child->as_string()) : std::nullopt;
    if (!id) return no_diff("`$container` is a container id");
    return Item(*id);
}

Result<crdt::PutText> text_from(const Value& json, Map attributes) {
    if (!json.is_string()) return no_diff("a text's delta inserts strings");
    return crdt::PutText{json.as_string(), std::move(attributes)};
}

// The attributes that steps_from() reads are those of a text; items of a list have none.
Result<crdt::PutItems> items_from(const Value& json, const Map&) {
    if (!json.is_list()) return no_diff("a list's delta inserts arrays");
    crdt::PutItems put;
    for (const Value& item : json.as_list()) put.items.push_back(TRY(item_from(item)));
    return put;
}

Result<crdt::MapDelta> map_from(const Value& json) {
    const Value* updated = json.get("updated");
    if (updated == nullptr || !updated->is_map())
        return no_diff("a map's diff is {updated: {key: value}}");
    // A null means that the key is deleted, unless `nulls` names the key.
    std::set<std::string_view> nulls;
    if (const Value* given = json.get("nulls")) {
        const auto wrong = [] { return no_diff("`nulls` of a map is an array of keys"); };
        if (!given->is_list()) return wrong();
        for (const Value& key : given->as_list()) {
            if (!key.is_string()) return wrong();
            nulls.insert(key.as_string());
        }
    }
    crdt::MapDelta delta;
    for (const Map::Entry& entry : updated->as_map()) {
        crdt::MapChange change{entry.key, std::nullopt};
        if (!entry.value.is_null() || nulls.contains(entry.key))
            change.item = TRY(item_from(entry.value));
        delta.push_back(std::move(change));
    }
    return delta;
}

// Absent and null mean the root of the tree.
Result<std::optional<OpId>> node_from(const Value* json) {
    if (json == nullptr || json->is_null()) return std::optional<OpId>();
    const auto id = json->is_string() ? crdt::parse_op_id(json->as_string()) : std::nullopt;
    if (!id) return no_diff("a node is named by its id, counter@peer");
    return std::optional<OpId>(*id);
}

// Empty bytes leave the choice of the position to the document that the diff is applied to.
Result<Bytes> position_from(const Value* json) {
    if (json == nullptr || json->is_null()) return Bytes();
    std::optional<Bytes> bytes = json->is_string() ? from_hex(json->as_string()) : std::nullopt;
    if (!bytes) return no_diff("`fractional_index` is bytes in hexadecimal");
    return std::move(*bytes);
}

Result<crdt::TreeDelta> tree_from(const Value& json) {
    if (!json.is_list()) return no_diff("a tree's diff is an array of actions");
    crdt::TreeDelta delta;
    for (const Value& action : json.as_list()) {
        const auto* const kind =
            std::ranges::find(kActions, json::text_in(action, "action"), &Action::word);
        if (kind == kActions.end()) return no_diff("an action is create, move or delete");
        TreeAction next;
        next.kind = kind->kind;
        const std::optional<OpId> target = TRY(node_from(action.get("target")));
        if (!target) return no_diff("an action names its `target`");
        next.target = *target;
        next.parent = TRY(node_from(action.get("parent")));
        next.old_parent = TRY(node_from(action.get("old_parent")));
        next.position = TRY(position_from(action.get("fractional_index")));
        const Value* index = action.get("index");
        const Value* old_index = action.get("old_index");
        if (index != nullptr) next.index = TRY(count_from(*index));
        if (old_index != nullptr) next.old_index = TRY(count_from(*old_index));
        delta.push_back(std::move(next));
    }
    return delta;
}

Result<crdt::Delta> delta_from(const Value& json) {
    if (const Value* text = json.get("text"))
        return crdt::Delta(TRY(steps_from<crdt::TextDelta>(*text, count_from, text_from, no_diff)));
    if (const Value* list = json.get("list"))
        return crdt::Delta(
            TRY(steps_from<crdt::ListDelta>(*list, count_from, items_from, no_diff)));
    if (const Value* map = json.get("map")) return crdt::Delta(TRY(map_from(*map)));
    if (const Value* tree = json.get("tree")) return crdt::Delta(TRY(tree_from(*tree)));
    if (const Value* counter = json.get("counter")) {
        if (!counter->is_number()) return no_diff("a counter's diff is a number");
        return crdt::Delta(crdt::CounterDelta{counter->as_number()});
    }
    return no_diff(
        "the diff of a container has one of `text`, `list`, `map`, `tree` and `counter`");
}

}  // namespace

Value to_json(const crdt::Diff& diff) {
    List list;
    for (const crdt::ContainerDiff& part : diff) {
        Map map{{"cid", crdt::to_text(part.container)}};
        if (!part.path.empty()) {
            List path;
            for (const crdt::PathStep& step : part.path)
                path.push_back(std::visit(StepJson{}, step));
            map.append("path", std::move(path));
        }
        map.append("diff", std::visit(DeltaJson{}, part.delta));
        list.push_back(std::move(map));
    }
    return list;
}

Value to_json(const crdt::Event& event) {
    constexpr std::array<std::string_view, 3> kBy = {"local", "import", "checkout"};
    return Map{{"by", kBy[static_cast<std::size_t>(event.by)]},
               {"origin", event.origin},
               {"message", event.message.empty() ? Value() : Value(event.message)},
               {"from", to_json(event.from)},
               {"to", to_json(event.to)},
               {"diffs", to_json(event.diffs)}};
}

Result<crdt::Diff> diff_from(const Value& json) {
    if (!json.is_list()) return no_diff("it is an array of {cid, diff}");
    crdt::Diff diff;
    for (const Value& part : json.as_list()) {
        const Value* cid = part.get("cid");
        const Value* delta = part.get("diff");
        const auto id = cid != nullptr && cid->is_string()
                            ? crdt::parse_container_id(cid->as_string())
                            : std::nullopt;
        if (!id || delta == nullptr) return no_diff("it is an array of {cid, diff}");
        crdt::Delta changed = TRY(delta_from(*delta));
        diff.push_back({*id, std::move(changed), {}});
    }
    return diff;
}

}  // namespace quire::cli

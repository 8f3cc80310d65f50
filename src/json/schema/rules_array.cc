// The keywords about an array's items: prefixItems, items, contains with its bounds, and
// uniqueItems. Each is a Rule that answers twice. holds() gives the verdict and marks the items
// that it looked at, for unevaluatedItems; it stops as soon as the verdict is sure. explain()
// runs only after a failure and finds the item to name.
#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "json/schema/keywords.h"
#include "json/schema/number.h"

namespace quire::json::detail {
namespace {

// prefixItems and items. One rule for both, over the node's own lists: prefixItems has the first
// items and items has the rest. Without `items` the rest is not looked at, and stays unmarked.
class ItemsRule final : public Rule {
public:
    explicit ItemsRule(const Node& node) : node_(node) {}
    bool holds(const Value& value, Check& check, Marks* marks) const override {
        if (!value.is_list()) return true;
        std::size_t index = 0;
        for (const Value& item : value.as_list()) {
            const Node* schema = schema_of(index);
            if (schema == nullptr) break;
            if (!check.holds(*schema, item)) return false;
            if (marks != nullptr) marks->add(index);
            ++index;
        }
        return true;
    }
    Error explain(const Value& value, const Place& place, Check& check, Marks*) const override {
        std::size_t index = 0;
        for (const Value& item : value.as_list()) {
            const Node* schema = schema_of(index);
            if (schema == nullptr) break;
            if (!check.holds(*schema, item)) {
                if (schema->nothing && index >= node_.prefix.size()) {
                    return too_many(index, value.as_list().size(), place);
                }
                return check.explain(*schema, item, Place(place, index));
            }
            ++index;
        }
        return violation(place, "items", cat(place.name(), " has an item that does not fit"));
    }

private:
    const Node* schema_of(std::size_t index) const {
        return index < node_.prefix.size() ? node_.prefix[index] : node_.items;
    }
    static Error too_many(std::size_t most, std::size_t size, const Place& place) {
        return violation(Place(place, most), "items",
                         cat(place.name(), " must have at most ", most, " items, not ", size),
                         {{"limit", most}, {"actual", size}});
    }

    const Node& node_;
};

// Called before the first of the two keywords is entered in the node, so there is one rule.
void add_items_rule(const Site& site) {
    if (site.node.prefix.empty() && site.node.items == nullptr) {
        site.add(std::make_unique<ItemsRule>(site.node));
    }
}

// contains, minContains and maxContains.
class ContainsRule final : public Rule {
public:
    ContainsRule(const Node& node, std::int64_t least, std::optional<std::int64_t> most)
        : node_(node), least_(least), most_(most) {}
    bool holds(const Value& value, Check& check, Marks* marks) const override {
        if (!value.is_list()) return true;
        // Marking needs every item; the verdict alone often needs only a few.
        const std::int64_t found = count(value.as_list(), check, marks, marks == nullptr);
        return found >= least_ && (!most_ || found <= *most_);
    }
    Error explain(const Value& value, const Place& place, Check& check, Marks*) const override {
        const std::int64_t found = count(value.as_list(), check, nullptr, false);
        const bool few = found < least_;
        const std::string_view rule = !few          ? "maxContains"
                                      : least_ == 1 ? "contains"
                                                    : "minContains";
        return violation(place, rule,
                         cat(place.name(), " must have at ", few ? "least " : "most ",
                             few ? least_ : *most_, " items that fit its contains",
                             node_.types == kAnyType ? "" : cat(" (", types_text(node_.types), ")"),
                             ", not ", found),
                         {{"limit", few ? least_ : *most_}, {"actual", found}});
    }

private:
    std::int64_t count(const List& items, Check& check, Marks* marks, bool until_sure) const {
        std::int64_t found = 0;
        std::size_t index = 0;
        for (const Value& item : items) {
            if (until_sure && (most_ ? found > *most_ : found >= least_)) break;
            if (check.holds(node_, item)) {
                ++found;
                if (marks != nullptr) marks->add(index);
            }
            if (check.stopped()) break;
            ++index;
        }
        return found;
    }

    const Node& node_;
    std::int64_t least_;
    std::optional<std::int64_t> most_;
};

// uniqueItems.
class UniqueRule final : public Rule {
public:
    bool holds(const Value& value, Check& check, Marks*) const override {
        return !value.is_list() || !first_repeat(value.as_list(), check);
    }
    Error explain(const Value& value, const Place& place, Check& check, Marks*) const override {
        const auto repeat = first_repeat(value.as_list(), check);
        if (!repeat) return violation(place, "uniqueItems", cat(place.name(), " repeats an item"));
        return violation(
            Place(place, repeat->second), "uniqueItems",
            cat(place.name(), " must not have the same item twice: ", repeat->first, " and ",
                repeat->second, " are both ", shown(value.as_list()[repeat->second])),
            {{"first", repeat->first}, {"second", repeat->second}});
    }

private:
    using Pair = std::pair<std::size_t, std::size_t>;

    // Compares each pair of a few items; of many, only pairs with equal hashes.
    static std::optional<Pair> first_repeat(const List& items, Check& check) {
        constexpr std::size_t kFewItems = 8;
        if (items.size() <= kFewItems) {
            for (std::size_t j = 1; j < items.size(); ++j) {
                for (std::size_t i = 0; i < j; ++i) {
                    if (same(items[i], items[j], check)) return Pair{i, j};
                }
            }
            return std::nullopt;
        }
        std::vector<std::pair<std::uint64_t, std::size_t>> hashes;
        hashes.reserve(items.size());
        for (const Value& item : items) hashes.emplace_back(hash_of(item, check), hashes.size());
        std::ranges::sort(hashes);
        for (std::size_t begin = 0; begin < hashes.size() && !check.stopped();) {
            std::size_t end = begin + 1;
            while (end < hashes.size() && hashes[end].first == hashes[begin].first) ++end;
            for (std::size_t j = begin + 1; j < end && !check.stopped(); ++j) {
                for (std::size_t i = begin; i < j && !check.stopped(); ++i) {
                    if (same(items[hashes[i].second], items[hashes[j].second], check)) {
                        return Pair{hashes[i].second, hashes[j].second};
                    }
                }
            }
            begin = end;
        }
        return std::nullopt;
    }
};

// unevaluatedItems.
class UnevaluatedItemsRule final : public Rule {
public:
    explicit UnevaluatedItemsRule(const Node& rest) : rest_(rest) {}
    // `marks` is never null here: the node gathers.
    bool holds(const Value& value, Check& check, Marks* marks) const override {
        if (!value.is_list()) return true;
        std::size_t index = 0;
        for (const Value& item : value.as_list()) {
            if (!marks->has(index++) && !check.holds(rest_, item)) return false;
        }
        marks->add_all();
        return true;
    }
    Error explain(const Value& value, const Place& place, Check& check,
                  Marks* marks) const override {
        std::size_t index = 0;
        for (const Value& item : value.as_list()) {
            const Place at(place, index);
            if (marks->has(index++) || check.holds(rest_, item)) continue;
            if (!rest_.nothing) return check.explain(rest_, item, at);
            return violation(at, "unevaluatedItems",
                             cat(at.name(),
                                 " is an item that no part of the schema speaks of; "
                                 "leave it out"));
        }
        return violation(place, "unevaluatedItems",
                         cat(place.name(), " has an item that does not fit"));
    }

private:
    const Node& rest_;
};

}  // namespace

Result<void> compile_prefix_items(const Site& site) {
    auto prefix = TRY(site.children(Site::For::inside));
    add_items_rule(site);
    site.node.prefix = std::move(prefix);
    return {};
}

Result<void> compile_items(const Site& site) {
    if (site.operand.is_list()) {
        return site.wrong("is one schema for all items; a schema for each is prefixItems");
    }
    const Node* items = TRY(site.child(site.operand, Site::For::inside));
    add_items_rule(site);
    site.node.items = items;
    return {};
}

Result<void> compile_contains(const Site& site) {
    const Node* node = TRY(site.child(site.operand, Site::For::inside));
    std::int64_t least = 1;
    if (const Value* bound = site.beside("minContains")) {
        const auto count = count_operand(*bound);
        if (!count) return site.wrong("has a minContains that is not an integer from 0 on");
        least = *count;
    }
    std::optional<std::int64_t> most;
    if (const Value* bound = site.beside("maxContains")) {
        most = count_operand(*bound);
        if (!most) return site.wrong("has a maxContains that is not an integer from 0 on");
    }
    site.add(std::make_unique<ContainsRule>(*node, least, most));
    return {};
}

Result<void> compile_unique_items(const Site& site) {
    if (!site.operand.is_bool()) return site.wrong("must be true or false");
    if (site.operand.as_bool()) site.add(std::make_unique<UniqueRule>());
    return {};
}

Result<void> compile_unevaluated_items(const Site& site) {
    const Node* rest = TRY(site.child(site.operand, Site::For::inside));
    site.node.gathers = true;
    site.add(std::make_unique<UnevaluatedItemsRule>(*rest));
    return {};
}

}  // namespace quire::json::detail

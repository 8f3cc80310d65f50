// The changes that accept() makes: the intended value of a loosely typed client, if the schema
// makes the intention clear. Everything else is left to the check.
#include <cmath>
#include <utility>

#include "json/json.h"
#include "json/schema/node.h"

namespace quire::json::detail {
namespace {

// Together with the value around it, an unwrapped value is no deeper than any value may be, so a
// reader of an answer that holds it can parse it.
constexpr std::size_t kUnwrappedDepth = ParseLimits{}.depth - 8;

std::size_t weight(const Value& value) {
    std::size_t sum = 1;
    if (value.is_list()) {
        for (const Value& item : value.as_list()) sum += weight(item);
    } else if (value.is_map()) {
        for (const Map::Entry& entry : value.as_map()) sum += 1 + weight(entry.value);
    } else if (value.is_string()) {
        sum += value.as_string().size() / 256;
    }
    return sum;
}

// Walks value and schema together and changes the value in place.
class Normaliser {
public:
    Normaliser(Check& check, bool is_unwrapped) : check_(check), within_unwrapped_(is_unwrapped) {}

    // First the value itself, then the schemas that surely apply, then its parts; branches and
    // conditions come last, since they look at the result.
    void apply(const Node& node, Value& value) {
        if (depth_ == Schema::kDepth || !check_.spend(1)) return;
        ++depth_;
        const bool was_within = within_unwrapped_;
        settle_scalar(node.wanted, value);
        if (node.ref != nullptr) apply(*node.ref, value);
        for (const Node* part : node.all) apply(*part, value);
        if (value.is_list()) apply_to_items(node, value.as_list());
        if (value.is_map()) apply_to_members(node, value);
        if (value.is_list() || value.is_map()) {
            if (!node.any.empty()) choose(node.any, value);
            if (!node.one.empty()) choose(node.one, value);
        }
        if (node.condition != nullptr) {
            const Node* side =
                check_.holds(*node.condition, value) ? node.consequence : node.alternative;
            if (side != nullptr) apply(*side, value);
        }
        within_unwrapped_ = was_within;
        --depth_;
    }

private:
    // A string that holds JSON of the wanted type is unwrapped; a whole float becomes an integer.
    void settle_scalar(TypeSet wanted, Value& value) {
        if (value.is_float() && (wanted & kInteger) != 0 && (wanted & kNumber) == 0) {
            make_integer(value);
        }
        if (within_unwrapped_ || !value.is_string()) return;
        if ((wanted & kString) != 0 || (wanted & (kArray | kObject)) == 0) return;
        std::optional<Value> inner = unwrapped(value.as_string());
        if (inner && (types_of(*inner) & wanted) != 0) {
            value = std::move(*inner);
            within_unwrapped_ = true;
        }
    }

    static void make_integer(Value& value) {
        constexpr double kBeyond = 9223372036854775808.0;  // 2^63
        const double number = value.as_float();
        if (std::trunc(number) == number && number >= -kBeyond && number < kBeyond) {
            value = static_cast<std::int64_t>(number);
        }
    }

    void apply_to_items(const Node& node, List& items) {
        std::size_t index = 0;
        for (Value& item : items) {
            const Node* schema = index < node.prefix.size() ? node.prefix[index] : node.items;
            if (schema == nullptr) return;
            apply(*schema, item);
            ++index;
        }
    }

    // Each member by its own schema, else by a pattern's, else by the one for all others.
    void apply_to_members(const Node& node, Value& value) {
        const Members& members = node.members;
        for (Map::Entry& entry : value.as_map()) {
            const Property* property = members.find(entry.key);
            bool known = property != nullptr && property->node != nullptr;
            if (known) apply(*property->node, entry.value);
            for (const PatternProperty& pattern : members.patterns) {
                if (!check_.spend(matching_steps(entry.key)) || !pattern.test(entry.key)) continue;
                known = true;
                apply(*pattern.node, entry.value);
            }
            if (!known && members.additional != nullptr) apply(*members.additional, entry.value);
        }
        for (const Property& dependent : node.dependents) {
            if (value.get(dependent.name) != nullptr) apply(*dependent.node, value);
        }
    }

    // Changes the value for the first branch that the changed value satisfies.
    void choose(const std::vector<const Node*>& branches, Value& value) {
        for (const Node* branch : branches) {
            if (!check_.spend(weight(value))) return;
            Value made = value;
            apply(*branch, made);
            if (check_.holds(*branch, made)) {
                value = std::move(made);
                return;
            }
        }
    }

    Check& check_;
    bool within_unwrapped_;  // Inside of an unwrapped value, where no second layer is unwrapped.
    std::size_t depth_ = 0;
};

}  // namespace

void normalise(const Node& node, Value& value, Check& check, bool is_unwrapped) {
    Normaliser(check, is_unwrapped).apply(node, value);
}

}  // namespace quire::json::detail

namespace quire::json {

std::optional<Value> unwrapped(const std::string& text) {
    auto inner = parse(text, {.depth = detail::kUnwrappedDepth});
    if (!inner || !(inner->is_list() || inner->is_map())) return std::nullopt;
    return std::move(*inner);
}

}  // namespace quire::json

// The walk over the compiled nodes, and the words for places and types. A check asks holds() on the
// way down and stops at the first no; explain() then repeats the walk along the failing path only.
// Steps and depth are counted in Inside, whose constructor runs once per schema entered, so neither
// recursion nor references can make a check unbounded.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/schema/node.h"

namespace quire::json::detail {
namespace {

struct TypeName {
    std::string_view name;
    TypeSet types;
    std::string_view phrase;
};
constexpr std::array<TypeName, 7> kTypeNames = {{{"null", kNull, "null"},
                                                 {"boolean", kBoolean, "true or false"},
                                                 {"integer", kInteger, "an integer"},
                                                 {"number", kInteger | kNumber, "a number"},
                                                 {"string", kString, "a string"},
                                                 {"array", kArray, "an array"},
                                                 {"object", kObject, "an object"}}};

// With more members than this, a binary search is faster than a scan.
constexpr std::size_t kFewNames = 16;

bool beyond_i64(const Value& value) {
    constexpr double kBeyond = 9223372036854775808.0;  // 2^63
    return value.is_float() && !(value.as_float() >= -kBeyond && value.as_float() < kBeyond);
}

}  // namespace

TypeSet type_named(std::string_view name) {
    for (const TypeName& type : kTypeNames) {
        if (type.name == name) return type.types;
    }
    return 0;
}

TypeSet types_of(const Value& value) {
    // Indexed by the kind of storage, because every value is asked.
    constexpr std::array<TypeSet, 8> kTypes = {
        kNull,  kBoolean, kInteger | kNumber, kNumber, kString, kObject,
        kArray, kObject};  // Bytes are written as an object.
    const std::size_t kind = value.storage().index();
    if (value.is_float() && std::trunc(value.as_float()) == value.as_float()) {
        return kInteger | kNumber;
    }
    return kTypes[kind];
}

// Names each type once, and joins with "or".
std::string types_text(TypeSet types) {
    std::vector<std::string_view> phrases;
    for (const TypeName& type : kTypeNames) {
        if (type.name == "integer" && (types & kNumber) != 0) continue;
        if (type.name == "number" ? (types & kNumber) != 0 : (types & type.types) != 0) {
            phrases.push_back(type.phrase);
        }
    }
    std::string text;
    for (std::size_t i = 0; i < phrases.size(); ++i) {
        if (i > 0) text.append(i + 1 == phrases.size() ? " or " : ", ");
        text.append(phrases[i]);
    }
    return text;
}

// Built from the parents down.
std::string Place::path() const {
    if (parent_ == nullptr) return "";
    std::string path = parent_->path();
    if (key_.data() == nullptr) return cat(path, "[", index_, "]");
    const std::string_view key = utf8::prefix(key_, kShownKey);
    return path.empty() ? std::string(key) : cat(path, ".", key);
}

std::string Place::name() const {
    return parent_ == nullptr ? "the value" : cat("'", path(), "'");
}

// Indices from 64 on grow a list of words; most objects never have one.
void Marks::add(std::size_t index) {
    if (index < 64) {
        first_ |= std::uint64_t{1} << index;
        return;
    }
    const std::size_t word = index / 64 - 1;
    if (word >= rest_.size()) rest_.resize(word + 1);
    rest_[word] |= std::uint64_t{1} << (index % 64);
}

bool Marks::has(std::size_t index) const {
    if (all_) return true;
    if (index < 64) return (first_ >> index & 1) != 0;
    const std::size_t word = index / 64 - 1;
    return word < rest_.size() && (rest_[word] >> (index % 64) & 1) != 0;
}

void Marks::merge(const Marks& other) {
    all_ = all_ || other.all_;
    first_ |= other.first_;
    if (rest_.size() < other.rest_.size()) rest_.resize(other.rest_.size());
    for (std::size_t i = 0; i < other.rest_.size(); ++i) rest_[i] |= other.rest_[i];
}

// Few members are scanned, many searched.
const Property* Members::find(std::string_view name) const {
    if (properties.size() <= kFewNames) {
        for (const Property& property : properties) {
            if (property.name == name) return &property;
        }
        return nullptr;
    }
    const auto at = std::lower_bound(
        by_name.begin(), by_name.end(), name,
        [&](std::uint32_t i, std::string_view wanted) { return properties[i].name < wanted; });
    return at != by_name.end() && properties[*at].name == name ? &properties[*at] : nullptr;
}

bool Members::fits_a_pattern(std::string_view name) const {
    return std::ranges::any_of(
        patterns, [&](const PatternProperty& property) { return property.test(name); });
}

std::string shown(const Value& value) {
    constexpr std::size_t kShown = 60;
    const std::string text = write(value);
    const std::string_view head = utf8::prefix(text, kShown);
    return head.size() == text.size() ? text : cat(head, "…");
}

Error violation(const Place& place, std::string_view rule, std::string message, Map facts) {
    Map details{{"path", place.path()}, {"rule", rule}};
    for (Map::Entry& fact : facts) details.set(fact.key, std::move(fact.value));
    return {Errc::invalid_argument, "invalid_arguments", std::move(message), std::move(details)};
}

Error type_violation(const Node& node, const Value& value, const Place& place) {
    if (node.fits_i64 && (types_of(value) & node.types) != 0) {
        return violation(place, "type", cat(place.name(), " must be an integer of at most 64 bits"),
                         {{"expected", "an integer"}, {"actual", "number"}});
    }
    return violation(place, "type",
                     cat(place.name(), " must be ", types_text(node.types), ", not ",
                         value.is_null() ? "null" : shown(value)),
                     {{"expected", types_text(node.types)}, {"actual", kind_name(value)}});
}

// The schema that the walk is in: counts it, and holds the scope of $dynamicRef.
class Check::Inside {
public:
    Inside(Check& check, const Node& node)
        : check_(check), scope_{check.scope_, node.resource}, held_(check.scope_) {
        if (check.depth_ == Schema::kDepth) check.too_deep_ = true;
        ++check.depth_;
        if (check.scoped_ && (held_ == nullptr || held_->resource != node.resource)) {
            check.scope_ = &scope_;
        }
    }
    ~Inside() {
        --check_.depth_;
        check_.scope_ = held_;
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

private:
    Check& check_;
    Scope scope_;
    const Scope* held_;
};

bool Check::spend(std::size_t steps) {
    // The sum saturates: a check that is over its budget stays over it.
    if (spent_ <= Schema::kSteps) spent_ += std::min(steps, Schema::kSteps + 1);
    return !stopped();
}

bool Check::has_type(const Node& node, const Value& value) {
    if (node.types == kAnyType) return true;
    if ((types_of(value) & node.types) == 0) return false;
    if ((node.types & kNumber) == 0 && value.is_float()) {
        saw_float_integer_ = true;
        if (node.fits_i64 && beyond_i64(value)) return false;
    }
    return true;
}

// The types are checked before the rules: most faults are wrong types, and the test is one AND.
bool Check::holds(const Node& node, const Value& value, Marks* marks) {
    if (node.nothing || !spend(1) || !has_type(node, value)) return false;
    if (node.rules.empty()) return true;

    const Inside inside(*this, node);
    if (too_deep_) return false;
    Marks own;
    Marks* const used = node.gathers ? &own : marks;
    for (const auto& rule : node.rules) {
        if (!rule->holds(value, *this, used)) return false;
    }
    if (node.gathers && marks != nullptr) marks->merge(own);
    return !stopped();
}

// Asks the rules in order and explains the first that fails. A rule that fails may have left marks,
// so it is explained with a copy of those from before it. Copying costs more than the verdict did,
// but it is done once for each level on the way to the fault.
Error Check::explain(const Node& node, const Value& value, const Place& place, Marks* marks) {
    if (node.nothing) return violation(place, "false", cat(place.name(), " is not allowed here"));
    if (!has_type(node, value)) return type_violation(node, value, place);

    const Inside inside(*this, node);
    Marks own;
    Marks* const used = node.gathers ? &own : marks;
    for (const auto& rule : node.rules) {
        if (stopped()) break;
        Marks before = used != nullptr ? *used : Marks();
        if (!rule->holds(value, *this, used)) {
            return rule->explain(value, place, *this, used != nullptr ? &before : nullptr);
        }
    }
    // Reached only if the walk has stopped, which every caller checks.
    return violation(place, "schema", cat(place.name(), " does not fit the schema"));
}

// Goes outwards, so the last schema found is the outermost.
const Node& Check::dynamic_target(std::uint32_t name, const Node& initial) {
    const Node* target = &initial;
    for (const Scope* scope = scope_; scope != nullptr; scope = scope->outer) {
        if (!spend(1 + scope->resource->anchors.size() / 8)) break;
        for (const Resource::Anchor& anchor : scope->resource->anchors) {
            if (anchor.name == name) target = anchor.node;
        }
    }
    return *target;
}

}  // namespace quire::json::detail

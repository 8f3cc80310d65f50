// The filter walks the schema once and narrows every part in place to calls with an allowed word.
//
//   oneOf: [{op: read, path}, {op: delete, path, force}]      allowed: read
//   ->     [{op: read, path}]                                 the branch and `force` are gone
//
// A negated part needs no care: for the remaining calls it says what it said before. At the end
// OperationGuard checks that no other word can pass; if one could, the whole object gets the enum.

#include "json/schema/operation_filter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "json/schema/object_members.h"
#include "json/schema/operation_guard.h"
#include "json/schema/references.h"

namespace quire::json {
namespace {

using Allowed = std::span<const std::string>;

// The deepest nesting that is followed, references included; our validator allows no more.
constexpr int kDeepestPart = 256;
// The most values that may be copied from targets of references.
constexpr std::size_t kMostCopied = 100'000;

bool holds(Allowed names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

std::size_t values_in(const Value& value) {
    std::size_t count = 1;
    if (value.is_list()) {
        for (const Value& each : value.as_list()) count += values_in(each);
    } else if (value.is_map()) {
        for (const Map::Entry& each : value.as_map()) count += values_in(each.value);
    }
    return count;
}

// Returns true for lists that annotate an enum: "enumNames", "x-enum-varnames", "markdownEnumDescriptions".
bool is_beside_enum(std::string_view keyword) {
    constexpr std::string_view kNum = "num";
    return std::search(
               keyword.begin(), keyword.end(), kNum.begin(), kNum.end(), [](char a, char b) {
                   return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
               }) != keyword.end();
}

Value* list_in(Map& schema, std::string_view keyword) {
    Value* const found = schema.find(keyword);
    return found != nullptr && found->is_list() ? found : nullptr;
}

void add_to_all(Map& schema, Value part) {
    if (Value* all = list_in(schema, "allOf")) {
        all->as_list().push_back(std::move(part));
    } else {
        schema.set("allOf", List{std::move(part)});
    }
}

// Returns true for keywords that do not affect which values fit.
bool is_annotation(std::string_view keyword) {
    constexpr std::string_view kWords[] = {
        "title",    "description",    "default",  "examples",   "deprecated",
        "readOnly", "writeOnly",      "$comment", "$schema",    "$id",
        "$anchor",  "$dynamicAnchor", "$defs",    "definitions"};
    return std::ranges::find(kWords, keyword) != std::end(kWords);
}

// Narrows a schema, in place, to calls whose member `field` is an allowed word or a list of allowed
// words, and removes parts that can no longer apply. Since nothing changes for such calls, it does
// not matter how the parts are combined or negated.
class Filter {
public:
    Filter(const SchemaReferences* references, std::string_view field, Allowed allowed)
        : references_(references),
          field_(field),
          allowed_(allowed),
          guard_(references, field, allowed) {}

    // Narrows an object's schema; false if no such call fits it. `outer` is the base URI around it.
    bool object(Value& schema, const std::string& outer);
    // Returns true if a limit was exceeded; the result is then useless.
    bool gave_up() const { return gave_up_; }
    const OperationGuard& guard() const { return guard_; }

private:
    // Narrows the schema of the member itself, or a part of it.
    bool words(Value& schema, const std::string& outer);
    // Like words(), and afterwards no other word fits.
    bool narrowed(Value& schema, const std::string& outer);

    // Calls look(map, base) for a schema that is an object, within the limits.
    template <typename Look>
    bool within(Value& schema, const std::string& outer, const Look& look);
    using Part = bool (Filter::*)(Value&, const std::string&);
    bool applied(Map& schema, const std::string& base, Part part, Part branch);
    bool branches(Map& schema, std::string_view keyword, const std::string& base, Part part);
    bool all_of(Map& schema, const std::string& base, Part part);
    bool conditional(Map& schema, const std::string& base, Part part);
    bool negated(Map& schema, const std::string& base, Part part);
    bool referring(Map& schema, std::string_view keyword, const std::string& base, Part part);
    bool members(Map& schema, const std::string& base);
    bool dependents(Map& schema, const std::string& base);
    bool items(Map& schema, const std::string& base);
    void enumeration(Map& schema) const;
    void discriminator(Map& schema, const std::set<std::string>& gone) const;
    // Returns true for a default or an example of the member that names another word.
    bool speaks_of_others(const Value& value) const;
    template <typename Speaks>
    static void drop_samples(Map& schema, const Speaks& speaks);

    struct Known {
        Value value = {};
        std::size_t size = 0;
        // Set while the target is being narrowed: a schema that leads back to itself adds nothing.
        bool is_left = false;
        bool is_changed = false;
    };

    const SchemaReferences* const references_;
    const std::string_view field_;
    const Allowed allowed_;
    const OperationGuard guard_;
    // Indexed by target: for the words of the member, and for an object's schema.
    std::map<const Value*, Known> known_words_, known_objects_;
    std::size_t copied_ = 0;
    int depth_ = 0;
    bool gave_up_ = false;
};

bool Filter::speaks_of_others(const Value& value) const {
    if (value.is_list()) {
        return std::ranges::any_of(value.as_list(),
                                   [&](const Value& each) { return speaks_of_others(each); });
    }
    return value.is_string() && !guard_.is_allowed(value);
}

template <typename Speaks>
void Filter::drop_samples(Map& schema, const Speaks& speaks) {
    if (const Value* usual = schema.find("default"); usual != nullptr && speaks(*usual))
        schema.erase("default");
    if (Value* examples = list_in(schema, "examples")) {
        std::erase_if(examples->as_list(), speaks);
        if (examples->as_list().empty()) schema.erase("examples");
    }
}

// Narrows an enum, and each list beside it that has one entry per word.
void Filter::enumeration(Map& schema) const {
    std::vector<bool> stays;
    for (const Value& each : schema.find("enum")->as_list())
        stays.push_back(guard_.is_allowed(each));
    for (Map::Entry& each : schema) {
        if (!is_beside_enum(each.key) || !each.value.is_list() ||
            each.value.as_list().size() != stays.size())
            continue;
        List left;
        for (std::size_t i = 0; i < stays.size(); ++i) {
            if (stays[i]) left.push_back(std::move(each.value.as_list()[i]));
        }
        each.value = std::move(left);
    }
}

// OpenAPI: removes the words of the member, or the branches that are `gone`, from the mapping.
void Filter::discriminator(Map& schema, const std::set<std::string>& gone) const {
    Value* const operand = schema.find("discriminator");
    if (operand == nullptr || !operand->is_map()) return;
    Value* const mapping = operand->as_map().find("mapping");
    if (mapping == nullptr || !mapping->is_map()) return;
    const Value* const name = operand->get("propertyName");
    const bool by_word = name != nullptr && *name == Value(field_);
    const auto leads_to_gone = [&](const Value& target) {
        if (!target.is_string()) return false;
        return std::ranges::any_of(gone, [&](const std::string& each) {
            return each == target.as_string() || each.ends_with("/" + target.as_string());
        });
    };
    Map left;
    for (Map::Entry& each : mapping->as_map()) {
        if (by_word ? holds(allowed_, each.key) && !leads_to_gone(each.value)
                    : !leads_to_gone(each.value))
            left.append(each.key, std::move(each.value));
    }
    *mapping = std::move(left);
    if (mapping->as_map().empty()) operand->as_map().erase("mapping");
}

bool Filter::branches(Map& schema, std::string_view keyword, const std::string& base, Part part) {
    Value* const operand = list_in(schema, keyword);
    if (operand == nullptr) return true;
    const bool had_some = !operand->as_list().empty();
    std::set<std::string> gone;
    std::erase_if(operand->as_list(), [&](Value& each) {
        const Value* const reference = each.get("$ref");
        const std::string named =
            reference != nullptr && reference->is_string() ? reference->as_string() : "";
        if ((this->*part)(each, base)) return false;
        if (!named.empty()) gone.insert(named);
        return true;
    });
    if (operand->as_list().empty()) return !had_some;
    discriminator(schema, gone);
    return true;
}

bool Filter::all_of(Map& schema, const std::string& base, Part part) {
    Value* const operand = list_in(schema, "allOf");
    if (operand == nullptr) return true;
    for (Value& each : operand->as_list()) {
        if (!(this->*part)(each, base)) return false;
    }
    // A condition on a removed word no longer asserts anything.
    std::erase_if(operand->as_list(),
                  [](const Value& each) { return each.is_map() && each.as_map().empty(); });
    if (operand->as_list().empty()) schema.erase("allOf");
    return true;
}

// For if {operation: X} then …: without X the `then` is gone, and the `else` always applies.
bool Filter::conditional(Map& schema, const std::string& base, Part part) {
    Value* const condition = schema.find("if");
    if (condition == nullptr) return true;
    const bool may_hold = (this->*part)(*condition, base);
    for (const std::string_view keyword : {"then", "else"}) {
        Value* const operand = schema.find(keyword);
        if (operand != nullptr && !(this->*part)(*operand, base)) *operand = false;
    }
    if (may_hold) return true;
    std::optional<Value> otherwise;
    if (Value* operand = schema.find("else")) otherwise = std::move(*operand);
    for (const std::string_view keyword : {"if", "then", "else"}) schema.erase(keyword);
    if (!otherwise || *otherwise == Value(true)) return true;
    if (*otherwise == Value(false)) return false;
    if (schema.empty() && otherwise->is_map()) {
        Map alone = std::move(otherwise->as_map());
        schema = std::move(alone);
    } else {
        add_to_all(schema, std::move(*otherwise));
    }
    return true;
}

bool Filter::negated(Map& schema, const std::string& base, Part part) {
    Value* const operand = schema.find("not");
    if (operand == nullptr) return true;
    if (!(this->*part)(*operand, base)) {
        schema.erase("not");
        return true;
    }
    return !(*operand == Value(true) || *operand == Value(Map()));
}

// If narrowing changes the target, a narrowed copy replaces the reference; other references to the
// target keep it unchanged.
bool Filter::referring(Map& schema, std::string_view keyword, const std::string& base, Part part) {
    const Value* const reference = schema.find(keyword);
    if (reference == nullptr || !reference->is_string() || references_ == nullptr) return true;
    const auto target = references_->find(base, reference->as_string(), keyword == "$dynamicRef");
    if (!target) return true;
    auto& known = part == &Filter::object ? known_objects_ : known_words_;
    const auto [at, is_new] = known.try_emplace(target->schema);
    Known& found = at->second;
    if (is_new) {
        copied_ += values_in(*target->schema);
        if (copied_ > kMostCopied) return gave_up_ = true;
        Value value = *target->schema;
        found.is_left = (this->*part)(value, target->base);
        found.is_changed = !(value == *target->schema);
        found.size = values_in(value);
        found.value = std::move(value);
    }
    if (!found.is_left) return false;
    if (!found.is_changed) return true;
    copied_ += found.size;
    if (copied_ > kMostCopied) return gave_up_ = true;
    Value copy = found.value;
    move_copy(copy, target->base, base);
    if (!copy.is_map()) return true;
    for (const std::string_view definitions : {"$defs", "definitions"})
        copy.as_map().erase(definitions);  // References into these still name the original place.
    schema.erase(keyword);
    const bool alone =
        std::ranges::all_of(schema, [](const Map::Entry& each) { return is_annotation(each.key); });
    if (!alone) {
        add_to_all(schema, std::move(copy));
        return true;
    }
    for (Map::Entry& each : copy.as_map()) {
        if (!schema.contains(each.key)) schema.set(each.key, std::move(each.value));
    }
    return true;
}

// The keywords that apply other schemas to the same value.
bool Filter::applied(Map& schema, const std::string& base, Part part, Part branch) {
    if (!conditional(schema, base, part) || !negated(schema, base, part)) return false;
    for (const std::string_view keyword : {"oneOf", "anyOf"}) {
        if (!branches(schema, keyword, base, branch)) return false;
    }
    if (!all_of(schema, base, part)) return false;
    for (const std::string_view keyword : {"$ref", "$dynamicRef"}) {
        if (!referring(schema, keyword, base, part)) return false;
    }
    return true;
}

bool Filter::items(Map& schema, const std::string& base) {
    for (const std::string_view keyword : {"items", "unevaluatedItems"}) {
        Value* const operand = schema.find(keyword);
        if (operand == nullptr || operand->is_bool() || operand->is_list()) continue;
        if (narrowed(*operand, base)) continue;
        if (!schema.contains("prefixItems")) return false;
        *operand = false;
    }
    if (Value* first = list_in(schema, "prefixItems")) {
        for (std::size_t i = 0; i < first->as_list().size(); ++i) {
            Value& each = first->as_list()[i];
            if (narrowed(each, base)) continue;
            if (i == 0) return false;
            each = false;
        }
    }
    if (Value* some = schema.find("contains"); some != nullptr && !words(*some, base)) {
        const Value* const least = schema.find("minContains");
        if (least == nullptr || !(*least == Value(0))) return false;
        for (const std::string_view keyword : {"contains", "minContains", "maxContains"})
            schema.erase(keyword);
    }
    return true;
}

template <typename Look>
bool Filter::within(Value& schema, const std::string& outer, const Look& look) {
    if (schema.is_bool()) return schema.as_bool();
    if (!schema.is_map() || gave_up_) return true;
    if (depth_ == kDeepestPart) return gave_up_ = true;
    ++depth_;
    const bool is_left = look(schema.as_map(), base_within(schema, outer));
    --depth_;
    return is_left;
}

bool Filter::words(Value& schema, const std::string& outer) {
    const auto look_at = [&](Map& out, const std::string& base) {
        if (const Value* word = out.find("const"); word != nullptr && !guard_.is_allowed(*word))
            return false;
        if (list_in(out, "enum") != nullptr) {
            enumeration(out);
            if (out.find("enum")->as_list().empty()) return false;
        }
        return items(out, base) && applied(out, base, &Filter::words, &Filter::narrowed);
    };
    return within(schema, outer, [&](Map& out, const std::string& base) {
        const bool is_left = look_at(out, base);
        drop_samples(out, [&](const Value& each) { return speaks_of_others(each); });
        return is_left;
    });
}

bool Filter::narrowed(Value& schema, const std::string& outer) {
    if (schema == Value(true)) schema = Map();
    if (!words(schema, outer)) return false;
    if (!schema.is_map() || gave_up_) return true;
    const bool no_strings = guard_.refuses_strings(schema, outer);
    const bool no_lists = guard_.refuses_lists(schema, outer);
    if (no_strings && no_lists) return true;
    const List all(allowed_.begin(), allowed_.end());
    Map& out = schema.as_map();
    const bool takes_lists = out.contains("items") || out.contains("prefixItems") ||
                             out.contains("contains") ||
                             (out.contains("type") && !type_excludes(schema, "array"));
    if (!takes_lists) {
        out.set("enum", all);
    } else if (no_strings && !out.contains("items") && !out.contains("prefixItems")) {
        out.set("items", Map{{"enum", all}});
    } else {
        Value either =
            List{Map{{"enum", all}}, Map{{"type", "array"}, {"items", Map{{"enum", all}}}}};
        if (out.contains("anyOf")) {
            add_to_all(out, Map{{"anyOf", std::move(either)}});
        } else {
            out.set("anyOf", std::move(either));
        }
    }
    return true;
}

// If a schema for other names accepts the member, the member gets an entry of its own.
bool Filter::members(Map& schema, const std::string& base) {
    Value* const all = schema.find("properties");
    Value* const member = all != nullptr && all->is_map() ? all->as_map().find(field_) : nullptr;
    if (member != nullptr && !narrowed(*member, base)) return false;
    std::optional<Value> own;
    if (Value* patterns = schema.find("patternProperties");
        patterns != nullptr && patterns->is_map()) {
        const std::string exactly = "^" + std::string(field_) + "$";
        for (Map::Entry& each : patterns->as_map()) {
            if (!pattern_finds(each.key, field_)) continue;
            Value part = each.value;
            if (!narrowed(part, base)) return false;
            if (each.key == exactly) each.value = part;
            own = std::move(part);
        }
    }
    if (member != nullptr) return true;
    // false and true cannot be narrowed: false forbids the member, and true is as open as the
    // whole, which filter_schema_enum() handles.
    if (const Value* others = schema.find("additionalProperties");
        !own && others != nullptr && others->is_map()) {
        own = *others;
        if (!narrowed(*own, base)) return false;
        if (*own == *others) return true;
    }
    if (!own || !own->is_map()) return true;
    if (all == nullptr || !all->is_map()) schema.set("properties", Map());
    schema.find("properties")->as_map().set(field_, std::move(*own));
    return true;
}

bool Filter::dependents(Map& schema, const std::string& base) {
    Value* const operand = schema.find("dependentSchemas");
    if (operand == nullptr || !operand->is_map()) return true;
    for (Map::Entry& each : operand->as_map()) {
        if (object(each.value, base)) continue;
        if (each.key == field_) return false;
        each.value = false;
    }
    return true;
}

bool Filter::object(Value& schema, const std::string& outer) {
    return within(schema, outer, [&](Map& out, const std::string& base) {
        const bool is_left = members(out, base) && dependents(out, base) &&
                             applied(out, base, &Filter::object, &Filter::object);
        discriminator(out, {});
        // Now that the parts are narrow: if none of them evaluates the member, this one does.
        if (const Value* others = out.find("unevaluatedProperties");
            is_left && others != nullptr && others->is_map() && !guard_.may_look(schema, outer)) {
            Value own = *others;
            if (!narrowed(own, base)) return false;
            if (!out.contains("properties")) out.set("properties", Map());
            if (out.find("properties")->is_map())
                out.find("properties")->as_map().set(field_, std::move(own));
        }
        drop_samples(out, [&](const Value& each) {
            const Value* const word = each.get(field_);
            return word != nullptr && speaks_of_others(*word);
        });
        return is_left;
    });
}

// The replacement for a schema that cannot be filtered: `words` for the member, and no other
// assertion.
Value bare(std::string_view field, Allowed words) {
    return Map{
        {"type", "object"},
        {"properties", Map{{std::string(field), Map{{"enum", List(words.begin(), words.end())}}}}},
        {"required", List{field}}};
}

}  // namespace

Value filter_schema_enum(Value schema, std::string_view field, Allowed allowed) {
    // The original is needed only if there are references.
    std::optional<Value> before;
    std::optional<SchemaReferences> references;
    if (has_references(schema)) {
        before = schema;
        references.emplace(*before);
    }
    const SchemaReferences* const known = references ? &*references : nullptr;
    if (!declares_member(known, schema, field)) return schema;
    Filter filter(known, field, allowed);
    const bool is_left = filter.object(schema, "");
    if (filter.gave_up()) return bare(field, allowed);
    if (!is_left) return bare(field, {});
    if (filter.guard().outcome(schema, "") != OperationGuard::Outcome::refused) {
        Map& all = schema.as_map();
        if (all.find("properties") == nullptr || !all.find("properties")->is_map())
            all.set("properties", Map());
        all.find("properties")
            ->as_map()
            .set(field, Map{{"enum", List(allowed.begin(), allowed.end())}});
    }
    if (before && !mend_references(*before, *references, schema)) return bare(field, allowed);
    return schema;
}

}  // namespace quire::json

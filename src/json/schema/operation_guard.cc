// An abstract interpretation: instead of a value, the schema is evaluated for "any value whose
// member is some other word". The four outcomes form a small lattice (refused, unseen, by_case,
// open), and each keyword combines the outcomes of its parts: allOf and properties by both(), anyOf
// and oneOf by either(), if by what it can still prove. `not` and keywords that are not named here
// could only refuse more, so they are passed over. Whatever the rules cannot see through is open.
// The budget of steps bounds references that unfold into each other.
#include "json/schema/operation_guard.h"

#include <algorithm>
#include <array>

#include "json/schema/references.h"
#include "text/ecma_pattern.h"

namespace quire::json {
namespace {

// The deepest nesting that is followed, references included.
constexpr int kDeepestGuard = 128;

using Outcome = OperationGuard::Outcome;

// The outcome if both parts apply. One refusal is enough; otherwise a part that has seen the
// member, or may have, decides, which is the larger enumerator.
Outcome both(Outcome a, Outcome b) {
    if (a == Outcome::refused || b == Outcome::refused) return Outcome::refused;
    return std::max(a, b);
}
// The outcome if at least one of the parts applies. Parts that differ leave it to the rest of the
// value which of them does.
Outcome either(Outcome a, Outcome b) {
    if (a == b) return a;
    return std::max({a, b, Outcome::by_case});
}

const List* list_of(const Value& schema, std::string_view keyword) {
    const Value* const found = schema.get(keyword);
    return found != nullptr && found->is_list() ? &found->as_list() : nullptr;
}

}  // namespace

bool pattern_finds(std::string_view pattern, std::string_view name) {
    const auto test = text::ecma_pattern(pattern);
    return test && (*test)(name);
}

bool type_excludes(const Value& schema, std::string_view kind) {
    const Value* const type = schema.get("type");
    if (type == nullptr) return false;
    if (type->is_string()) return type->as_string() != kind;
    if (!type->is_list()) return false;
    return std::ranges::none_of(type->as_list(),
                                [&](const Value& each) { return each == Value(kind); });
}

bool OperationGuard::is_allowed(const Value& word) const {
    if (word.is_list()) {
        const List& all = word.as_list();
        return !all.empty() &&
               std::ranges::all_of(all, [&](const Value& each) { return is_allowed(each); });
    }
    return word.is_string() && std::ranges::find(allowed_, word.as_string()) != allowed_.end();
}

bool OperationGuard::refuses_all(const Value& schema, const std::string& base, int depth) const {
    return refuses(schema, base, Kind::string, depth) && refuses(schema, base, Kind::list, depth);
}

// True only if some assertion certainly excludes every other word. One assertion is enough, since
// all of a schema's keywords must hold; so the keywords are tried one after the other, the cheap
// ones first. Running out of depth or steps is a no.
bool OperationGuard::refuses(const Value& schema, const std::string& outer, Kind kind,
                             int depth) const {
    if (schema.is_bool()) return !schema.as_bool();
    if (!schema.is_map() || depth > kDeepestGuard || --steps_ < 0) return false;
    const std::string base = base_within(schema, outer);
    if (type_excludes(schema, kind == Kind::string ? "string" : "array")) return true;
    const auto fits_none = [&](const Value& word) {
        const bool of_kind = kind == Kind::string ? word.is_string() : word.is_list();
        return !of_kind || is_allowed(word);
    };
    if (const Value* word = schema.get("const"); word != nullptr && fits_none(*word)) return true;
    if (const List* words = list_of(schema, "enum");
        words != nullptr && std::all_of(words->begin(), words->end(), fits_none))
        return true;
    const auto part = [&](const Value& each) { return refuses(each, base, kind, depth + 1); };
    if (const List* all = list_of(schema, "allOf");
        all != nullptr && std::any_of(all->begin(), all->end(), part))
        return true;
    for (const std::string_view keyword : {"anyOf", "oneOf"}) {
        const List* const any = list_of(schema, keyword);
        if (any != nullptr && std::all_of(any->begin(), any->end(), part)) return true;
    }
    const Value* const then = schema.get("then");
    const Value* const otherwise = schema.get("else");
    if (schema.get("if") != nullptr && then != nullptr && otherwise != nullptr && part(*then) &&
        part(*otherwise))
        return true;
    if (kind == Kind::list) {
        const Value* items = schema.get("items");
        if (items == nullptr) items = schema.get("unevaluatedItems");
        const List* const first = list_of(schema, "prefixItems");
        const auto item = [&](const Value& each) { return refuses_all(each, base, depth + 1); };
        if (items != nullptr && item(*items) &&
            (first == nullptr || std::all_of(first->begin(), first->end(), item)))
            return true;
    }
    for (const std::string_view keyword : {"$ref", "$dynamicRef"}) {
        const Value* const reference = schema.get(keyword);
        if (reference == nullptr || !reference->is_string() || references_ == nullptr) continue;
        const auto target =
            references_->find(base, reference->as_string(), keyword == "$dynamicRef");
        if (target && refuses(*target->schema, target->base, kind, depth + 1)) return true;
    }
    return false;
}

// The member is seen by a schema for its name, by one for a pattern, or by one for all others.
Outcome OperationGuard::outcome_of_members(const Value& schema, const std::string& base,
                                           int depth) const {
    Outcome out = Outcome::unseen;
    bool seen = false;
    const auto looks = [&](const Value& member) {
        seen = true;
        out = both(out, refuses_all(member, base, depth + 1) ? Outcome::refused : Outcome::open);
    };
    if (const Value* members = schema.get("properties"); members != nullptr) {
        if (const Value* member = members->get(field_)) looks(*member);
    }
    if (const Value* patterns = schema.get("patternProperties");
        patterns != nullptr && patterns->is_map()) {
        for (const Map::Entry& each : patterns->as_map()) {
            if (pattern_finds(each.key, field_)) looks(each.value);
        }
    }
    if (const Value* others = schema.get("additionalProperties"); others != nullptr && !seen)
        looks(*others);
    return out;
}

// Follows every part that could apply to the object. Errs on the other side than outcome(): here a
// yes is the safe answer, and a reference that cannot be followed is one.
bool OperationGuard::may_look(const Value& schema, const std::string& outer, int depth) const {
    if (!schema.is_map()) return false;
    if (depth > kDeepestGuard || --steps_ < 0) return true;
    const std::string base = base_within(schema, outer);
    if (schema.get("additionalProperties") != nullptr ||
        (depth > 0 && schema.get("unevaluatedProperties") != nullptr) ||
        outcome_of_members(schema, base, depth) != Outcome::unseen)
        return true;
    const auto part = [&](const Value& each) { return may_look(each, base, depth + 1); };
    for (const std::string_view keyword : {"allOf", "anyOf", "oneOf"}) {
        const List* const parts = list_of(schema, keyword);
        if (parts != nullptr && std::any_of(parts->begin(), parts->end(), part)) return true;
    }
    for (const std::string_view keyword : {"if", "then", "else"}) {
        const Value* const operand = schema.get(keyword);
        if (operand != nullptr && part(*operand)) return true;
    }
    if (const Value* all = schema.get("dependentSchemas"); all != nullptr && all->is_map()) {
        for (const Map::Entry& each : all->as_map()) {
            if (part(each.value)) return true;
        }
    }
    for (const std::string_view keyword : {"$ref", "$dynamicRef"}) {
        const Value* const reference = schema.get(keyword);
        if (reference == nullptr || !reference->is_string()) continue;
        if (references_ == nullptr) return true;
        const auto target =
            references_->find(base, reference->as_string(), keyword == "$dynamicRef");
        if (!target || may_look(*target->schema, target->base, depth + 1)) return true;
    }
    return false;
}

// Combines the outcomes of all keywords except unevaluatedProperties, which comes last.
Outcome OperationGuard::outcome_inside(const Value& schema, const std::string& base,
                                       int depth) const {
    if (type_excludes(schema, "object")) return Outcome::refused;
    const auto part = [&](const Value& each) { return outcome(each, base, depth + 1); };
    Outcome out = outcome_of_members(schema, base, depth);
    if (const List* all = list_of(schema, "allOf")) {
        for (const Value& each : *all) out = both(out, part(each));
    }
    for (const std::string_view keyword : {"anyOf", "oneOf"}) {
        const List* const any = list_of(schema, keyword);
        if (any == nullptr || any->empty()) continue;
        Outcome one = part(any->front());
        for (const Value& each : *any) one = either(one, part(each));
        out = both(out, one);
    }
    if (const Value* dependent = schema.get("dependentSchemas");
        dependent != nullptr && dependent->is_map()) {
        for (const Map::Entry& each : dependent->as_map()) {
            const Outcome one = part(each.value);
            out = both(out, each.key == field_ ? one : either(one, Outcome::unseen));
        }
    }
    if (const Value* condition = schema.get("if"); condition != nullptr) {
        const Value* const then = schema.get("then");
        const Value* const otherwise = schema.get("else");
        Outcome if_so = then == nullptr ? Outcome::unseen : part(*then);
        if_so = both(part(*condition), if_so);
        const Outcome if_not = otherwise == nullptr ? Outcome::unseen : part(*otherwise);
        // If the condition itself refuses the word, only the other branch is left.
        out = both(out, if_so == Outcome::refused && part(*condition) == Outcome::refused
                            ? if_not
                            : either(if_so, if_not));
    }
    for (const std::string_view keyword : {"$ref", "$dynamicRef"}) {
        const Value* const reference = schema.get(keyword);
        if (reference == nullptr || !reference->is_string()) continue;
        const auto target = references_ == nullptr ? std::nullopt
                                                   : references_->find(base, reference->as_string(),
                                                                       keyword == "$dynamicRef");
        out = both(out, target ? outcome(*target->schema, target->base, depth + 1) : Outcome::open);
    }
    return out;
}

Outcome OperationGuard::outcome(const Value& schema, const std::string& outer, int depth) const {
    if (schema.is_bool()) return schema.as_bool() ? Outcome::unseen : Outcome::refused;
    if (!schema.is_map() || depth > kDeepestGuard || --steps_ < 0) return Outcome::open;
    const std::string base = base_within(schema, outer);
    const Outcome inside = outcome_inside(schema, base, depth);
    const Value* const others = schema.get("unevaluatedProperties");
    if (others == nullptr || inside == Outcome::refused || inside == Outcome::open) return inside;
    return refuses_all(*others, base, depth + 1) ? Outcome::refused : Outcome::open;
}

}  // namespace quire::json

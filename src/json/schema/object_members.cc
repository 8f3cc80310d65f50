// Both functions look at a schema as its author wrote it: a member counts as declared only where
// the schema names it or lists words for it, not where any name would be accepted.

#include "json/schema/object_members.h"

#include <algorithm>
#include <set>

#include "json/schema/operation_guard.h"

namespace quire::json {
namespace {

// The deepest nesting that is searched, references included; our validator allows no more.
constexpr int kDeepestMember = 256;

// Searches a schema of an object for a declaration of one member.
class Declaration {
public:
    Declaration(const SchemaReferences* references, std::string_view field)
        : references_(references), field_(field) {}

    // Searches the schema and all parts that apply to the same value.
    bool is_in(const Value& schema, const std::string& outer, int depth = 0) {
        if (!schema.is_map() || depth > kDeepestMember) return false;
        const std::string base = references_ == nullptr ? outer : base_within(schema, outer);
        if (is_here(schema, base)) return true;
        const auto part = [&](const Value& each) { return is_in(each, base, depth + 1); };
        for (const std::string_view keyword : {"oneOf", "anyOf", "allOf"}) {
            const Value* const parts = schema.get(keyword);
            if (parts != nullptr && parts->is_list() && std::ranges::any_of(parts->as_list(), part))
                return true;
        }
        for (const std::string_view keyword : {"not", "if", "then", "else"}) {
            const Value* const operand = schema.get(keyword);
            if (operand != nullptr && part(*operand)) return true;
        }
        const Value* const dependent = schema.get("dependentSchemas");
        if (dependent != nullptr && dependent->is_map()) {
            for (const Map::Entry& each : dependent->as_map()) {
                if (each.key == field_ || part(each.value)) return true;
            }
        }
        return behind(schema, base, [&](const SchemaReferences::Target& target) {
            return seen_.insert(target.schema).second &&
                   is_in(*target.schema, target.base, depth + 1);
        });
    }

private:
    // Looks at this schema alone.
    bool is_here(const Value& schema, const std::string& base) {
        const Value* const members = schema.get("properties");
        if (members != nullptr && members->get(field_) != nullptr) return true;
        const Value* const required = schema.get("required");
        if (required != nullptr && required->is_list() &&
            std::ranges::find(required->as_list(), Value(field_)) != required->as_list().end())
            return true;
        // A schema for any name declares this one if it lists words for it.
        const Value* const patterns = schema.get("patternProperties");
        if (patterns != nullptr && patterns->is_map()) {
            for (const Map::Entry& each : patterns->as_map()) {
                if (has_words(each.value, base, 0) && pattern_finds(each.key, field_)) return true;
            }
        }
        for (const std::string_view keyword : {"additionalProperties", "unevaluatedProperties"}) {
            const Value* const others = schema.get(keyword);
            if (others != nullptr && has_words(*others, base, 0)) return true;
        }
        return false;
    }

    // Returns true if the schema lists words, itself or in one of its parts.
    bool has_words(const Value& schema, const std::string& outer, int depth) {
        if (!schema.is_map() || depth > kDeepestMember) return false;
        const std::string base = references_ == nullptr ? outer : base_within(schema, outer);
        const Value* const word = schema.get("const");
        if (word != nullptr && word->is_string()) return true;
        for (const std::string_view keyword : {"enum", "oneOf", "anyOf", "allOf"}) {
            const Value* const all = schema.get(keyword);
            if (all == nullptr || !all->is_list()) continue;
            for (const Value& each : all->as_list()) {
                if (keyword == "enum" ? each.is_string() : has_words(each, base, depth + 1))
                    return true;
            }
        }
        for (const std::string_view keyword : {"not", "if", "then", "else"}) {
            const Value* const operand = schema.get(keyword);
            if (operand != nullptr && has_words(*operand, base, depth + 1)) return true;
        }
        return behind(schema, base, [&](const SchemaReferences::Target& target) {
            return seen_words_.insert(target.schema).second &&
                   has_words(*target.schema, target.base, depth + 1);
        });
    }

    // Applies `test` to the targets of the schema's references.
    template <typename Test>
    bool behind(const Value& schema, const std::string& base, const Test& test) const {
        for (const std::string_view keyword : {"$ref", "$dynamicRef"}) {
            const Value* const reference = schema.get(keyword);
            if (references_ == nullptr || reference == nullptr || !reference->is_string()) continue;
            const auto target =
                references_->find(base, reference->as_string(), keyword == "$dynamicRef");
            if (target && test(*target)) return true;
        }
        return false;
    }

    const SchemaReferences* const references_;
    const std::string_view field_;
    std::set<const Value*> seen_, seen_words_;
};

}  // namespace

bool declares_member(const SchemaReferences* references, const Value& schema,
                     std::string_view field) {
    return Declaration(references, field).is_in(schema, "");
}

// The words are removed from each place that can name a member. Only the object's own keywords are
// changed, and not what its branches or references say. A default or an example that uses a removed
// name goes as a whole: what is left of it might not fit.
Value without_members(Value schema, std::span<const std::string> names) {
    if (!schema.is_map()) return schema;
    Map& all = schema.as_map();
    const auto is_named = [&](const Value& each) {
        return each.is_string() && std::ranges::find(names, each.as_string()) != names.end();
    };
    for (const std::string_view keyword : {"properties", "dependentRequired", "dependentSchemas"}) {
        Value* const members = all.find(keyword);
        if (members == nullptr || !members->is_map()) continue;
        for (const std::string& name : names) members->as_map().erase(name);
        if (keyword != "dependentRequired") continue;
        for (Map::Entry& each : members->as_map()) {
            if (each.value.is_list()) std::erase_if(each.value.as_list(), is_named);
        }
    }
    if (Value* required = all.find("required"); required != nullptr && required->is_list())
        std::erase_if(required->as_list(), is_named);
    const auto names_one = [&](const Value& each) {
        return std::ranges::any_of(
            names, [&](const std::string& name) { return each.get(name) != nullptr; });
    };
    if (const Value* usual = all.find("default"); usual != nullptr && names_one(*usual))
        all.erase("default");
    if (Value* examples = all.find("examples"); examples != nullptr && examples->is_list())
        std::erase_if(examples->as_list(), names_one);
    return schema;
}

}  // namespace quire::json

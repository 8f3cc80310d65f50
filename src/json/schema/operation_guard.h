// What a JSON Schema lets through: whether words other than the allowed ones fit it.
//
// Says "no" only where that is sure: what it cannot see through counts as open.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::json {

class SchemaReferences;

class OperationGuard {
public:
    // `references` may be null: none then leads anywhere. Everything outlives this.
    OperationGuard(const SchemaReferences* references, std::string_view field,
                   std::span<const std::string> allowed)
        : references_(references), field_(field), allowed_(allowed) {}

    // A word that is allowed, or a list of such alone.
    bool is_allowed(const Value& word) const;

    // Of a schema of the member: no string, or no list, but of allowed words fits it.
    bool refuses_strings(const Value& schema, const std::string& base) const {
        return refuses(schema, base, Kind::string, 0);
    }
    bool refuses_lists(const Value& schema, const std::string& base) const {
        return refuses(schema, base, Kind::list, 0);
    }

    // Of an object's schema: what becomes of another word in the member.
    enum class Way {
        refused,
        unseen,   // It fits, and nothing has looked at the member.
        by_case,  // It fits, and whether something has looked at it depends on the rest.
        open,
    };
    Way way(const Value& schema, const std::string& base) const { return way(schema, base, 0); }
    // Something in an object's schema may look at the member, but for its own
    // unevaluatedProperties.
    bool may_look(const Value& schema, const std::string& outer) const {
        return may_look(schema, outer, 0);
    }

private:
    enum class Kind { string, list };
    bool refuses(const Value& schema, const std::string& base, Kind kind, int depth) const;
    bool refuses_all(const Value& schema, const std::string& base, int depth) const;
    Way way(const Value& schema, const std::string& base, int depth) const;
    Way way_inside(const Value& schema, const std::string& base, int depth) const;
    bool may_look(const Value& schema, const std::string& outer, int depth) const;
    Way way_of_members(const Value& schema, const std::string& base, int depth) const;

    const SchemaReferences* const references_;
    const std::string_view field_;
    const std::span<const std::string> allowed_;
    // References may unfold to more than there is. What is left for all questions; then all is
    // open.
    mutable int steps_ = 200'000;
};

// Whether the pattern, as ECMA-262 writes them, is found in `name`; false for what cannot be run.
bool pattern_finds(std::string_view pattern, std::string_view name);

// The `type` of a schema leaves `kind` out.
bool type_excludes(const Value& schema, std::string_view kind);

}  // namespace quire::json

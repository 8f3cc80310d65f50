// Deciding whether words other than the allowed ones fit a JSON Schema.
//
// The answer is "no" only if that is certain: anything that cannot be analysed counts as open.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::json {

class SchemaReferences;

// Answers for one member of one schema.
class OperationGuard {
public:
    // `references` may be null if there are none. All arguments must outlive the guard.
    OperationGuard(const SchemaReferences* references, std::string_view field,
                   std::span<const std::string> allowed)
        : references_(references), field_(field), allowed_(allowed) {}

    // Returns true for an allowed word, or a list of allowed words.
    bool is_allowed(const Value& word) const;

    // For a schema of the member: true if no string, or no list, fits except allowed words.
    bool refuses_strings(const Value& schema, const std::string& base) const {
        return refuses(schema, base, Kind::string, 0);
    }
    bool refuses_lists(const Value& schema, const std::string& base) const {
        return refuses(schema, base, Kind::list, 0);
    }

    // The outcome for another word in the member, by an object's schema.
    enum class Outcome {
        refused,
        // It fits, and nothing has evaluated the member.
        unseen,
        // It fits, and the rest of the value decides whether something has evaluated the member.
        by_case,
        open,
    };
    Outcome outcome(const Value& schema, const std::string& base) const {
        return outcome(schema, base, 0);
    }
    // Returns true if something in an object's schema may evaluate the member, apart from its own
    // unevaluatedProperties.
    bool may_look(const Value& schema, const std::string& outer) const {
        return may_look(schema, outer, 0);
    }

private:
    enum class Kind { string, list };
    bool refuses(const Value& schema, const std::string& base, Kind kind, int depth) const;
    bool refuses_all(const Value& schema, const std::string& base, int depth) const;
    Outcome outcome(const Value& schema, const std::string& base, int depth) const;
    Outcome outcome_inside(const Value& schema, const std::string& base, int depth) const;
    bool may_look(const Value& schema, const std::string& outer, int depth) const;
    Outcome outcome_of_members(const Value& schema, const std::string& base, int depth) const;

    const SchemaReferences* const references_;
    const std::string_view field_;
    const std::span<const std::string> allowed_;
    // References may unfold without bound. The steps left for all questions; at zero everything
    // counts as open.
    mutable int steps_ = 200'000;
};

// Returns true if the pattern, in ECMA-262's syntax, occurs in `name`; false if it cannot be run.
bool pattern_finds(std::string_view pattern, std::string_view name);

// Returns true if the schema's `type` excludes `kind`.
bool type_excludes(const Value& schema, std::string_view kind);

}  // namespace quire::json

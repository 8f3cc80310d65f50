// The table of keywords, and the function that turns each into rules. Internal to this room.
//
// A new keyword is a row in the table and a function here. The function checks its operand, makes
// the nodes of the schemas in it, and adds a rule to the node or fills in its structure. It may
// read keywords beside its own, and relies on the table's order for what they have entered in the
// node.
#pragma once

#include <span>
#include <string_view>

#include "json/schema/documents.h"
#include "json/schema/node.h"

namespace quire::json::detail {

class Compiler;

// One keyword of one schema, as the keyword's function sees it.
struct Site {
    Compiler& compiler;
    Node& node;
    const Value& schema;   // The schema that contains the keyword.
    const Value& operand;  // The keyword's operand.
    SchemaPart& part;
    const Trail& trail;  // The path to the schema.
    std::string_view keyword;

    // Another keyword of the same schema, if its vocabulary is in use; else null.
    const Value* beside(std::string_view name) const;
    Failure wrong(std::string_view what) const { return invalid_schema(trail, keyword, what); }

    // The node of a schema at the keyword, or below it. `here` means that it applies to the same
    // value. Nodes that apply to the same value must not form a circle, so this decides what is
    // searched for one.
    enum class For { here, inside };
    Result<const Node*> child(const Value& schema, For what) const;
    Result<const Node*> child(const Value& schema, For what, std::string_view step) const;
    Result<const Node*> child(const Value& schema, For what, std::size_t index) const;
    // The nodes of an array of at least one schema.
    Result<std::vector<const Node*>> children(For what) const;
    // Errors: those of Compiler::pattern().
    Result<PatternTest> pattern(std::string_view text) const;

    void add(std::unique_ptr<Rule> rule) const { node.rules.push_back(std::move(rule)); }
    bool strict() const;
};

// The kind of schemas that a keyword's operand holds: none, one, an array of them, or an object of
// them by name. Documents are scanned by this.
enum class Operand { value, schema, schemas, named_schemas };

// One keyword.
struct Keyword {
    std::string_view name;
    Vocabularies vocabulary;
    Operand operand;
    Result<void> (*compile)(const Site& site);  // Null if the keyword checks nothing.
};

// Ordered as rules report: faults of the whole value before faults inside, and unevaluated… last.
std::span<const Keyword> keywords();
// Returns null if no vocabulary of `in_use` has the keyword. O(log k).
const Keyword* keyword_named(std::string_view name, Vocabularies in_use);
// The functions of the keywords, grouped by the values they look at: any value, strings and
// numbers; objects; arrays; the same value again.
Result<void> compile_type(const Site& site);
Result<void> compile_enum(const Site& site);
Result<void> compile_const(const Site& site);
Result<void> compile_multiple_of(const Site& site);
Result<void> compile_bound(const Site& site);
Result<void> compile_size(const Site& site);
Result<void> compile_pattern(const Site& site);

Result<void> compile_properties(const Site& site);
Result<void> compile_pattern_properties(const Site& site);
Result<void> compile_additional(const Site& site);
Result<void> compile_required(const Site& site);
Result<void> compile_property_names(const Site& site);
Result<void> compile_dependent_required(const Site& site);
Result<void> compile_unevaluated_properties(const Site& site);

Result<void> compile_prefix_items(const Site& site);
Result<void> compile_items(const Site& site);
Result<void> compile_contains(const Site& site);
Result<void> compile_unique_items(const Site& site);
Result<void> compile_unevaluated_items(const Site& site);

Result<void> compile_ref(const Site& site);
Result<void> compile_dynamic_ref(const Site& site);
Result<void> compile_all_of(const Site& site);
Result<void> compile_branches(const Site& site);
Result<void> compile_not(const Site& site);
Result<void> compile_if(const Site& site);
Result<void> compile_dependent_schemas(const Site& site);
Result<void> compile_definitions(const Site& site);

// The operand of a keyword that counts: an integer that is not negative; nothing otherwise. Larger
// numbers than an i64 holds become the largest i64.
std::optional<std::int64_t> count_operand(const Value& operand);
Value as_list(const std::vector<std::string>& names);

}  // namespace quire::json::detail

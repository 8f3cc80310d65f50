// The table of keywords: what each is, and the function that makes rules of it. For schema*.cc
// alone.
#pragma once

#include <span>
#include <string_view>

#include "json/schema/documents.h"
#include "json/schema/node.h"

namespace quire::json::detail {

class Compiler;

// Where a keyword's function works: one keyword of one schema.
struct Site {
    Compiler& compiler;
    Node& node;
    const Value& schema;   // That the keyword stands in.
    const Value& operand;  // What is said by it.
    SchemaPart& part;
    const Trail& trail;  // To the schema.
    std::string_view keyword;

    // Another keyword of the same schema, if its vocabulary is in use.
    const Value* beside(std::string_view name) const;
    Failure wrong(std::string_view what) const { return invalid_schema(trail, keyword, what); }

    // The schema `schema` at the keyword, or below it. `here` says that it is for the same value as
    // this one.
    enum class For { here, inside };
    Result<const Node*> child(const Value& schema, For what) const;
    Result<const Node*> child(const Value& schema, For what, std::string_view step) const;
    Result<const Node*> child(const Value& schema, For what, std::size_t index) const;
    // An array of at least one schema.
    Result<std::vector<const Node*>> children(For what) const;
    Result<PatternTest> pattern(std::string_view text) const;

    void add(std::unique_ptr<Rule> rule) const { node.rules.push_back(std::move(rule)); }
    bool strict() const;
};

// Where a keyword's operand holds schemas.
enum class Operand { value, schema, schemas, named_schemas };

struct Keyword {
    std::string_view name;
    Vocabularies vocabulary;
    Operand operand;
    Result<void> (*compile)(const Site& site);  // Null for what nothing is checked by.
};

// In the order in which rules speak: what is wrong as a whole before what is wrong inside, and what
// others leave unevaluated last.
std::span<const Keyword> keywords();
// Null if no vocabulary of `in_use` has it. O(log k).
const Keyword* keyword_named(std::string_view name, Vocabularies in_use);
// The nearest to a name of those that are offered; "" if none is near.
class Nearest {
public:
    explicit Nearest(std::string_view name) : name_(name) {}
    void offer(std::string_view candidate);
    std::string_view best() const { return best_; }

private:
    std::string_view name_;
    std::string_view best_;
    std::size_t least_ = 3;  // Changed letters; so many are another name.
};

// By what they look at: any value, strings and numbers; objects; arrays; the same value again.
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

// What a keyword that counts something may be given: an integer that is not negative. None if it
// is something else. More than an i64 is as good as the most of it.
std::optional<std::int64_t> count_operand(const Value& operand);
// "a, b, c".
std::string joined(const std::vector<std::string>& names);
Value as_list(const std::vector<std::string>& names);

}  // namespace quire::json::detail

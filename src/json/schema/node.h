// The compiled form of a schema, and the walk over it that checks a value. For schema*.cc alone.
//
// Two questions are kept apart. holds() says yes or no, builds no text and is what every check
// asks; explain() is asked once, after a no, and follows the first fault down to its place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/schema/schema.h"

namespace quire::json::detail {

using TypeSet = std::uint8_t;
inline constexpr TypeSet kNull = 1;
inline constexpr TypeSet kBoolean = 2;
inline constexpr TypeSet kInteger = 4;
inline constexpr TypeSet kNumber = 8;
inline constexpr TypeSet kString = 16;
inline constexpr TypeSet kArray = 32;
inline constexpr TypeSet kObject = 64;
inline constexpr TypeSet kAnyType = 127;

// The bits of one of JSON Schema's type names (an integer is a number too); 0 for no such name.
TypeSet type_named(std::string_view name);
// Of a value: a float without a fraction is an integer as well.
TypeSet types_of(const Value& value);
// "an integer or null", for messages.
std::string types_text(TypeSet types);

// The way to the value that is looked at. Made where something is explained.
class Place {
public:
    Place() = default;
    Place(const Place& parent, std::string_view key) : parent_(&parent), key_(key) {}
    Place(const Place& parent, std::size_t index) : parent_(&parent), index_(index) {}

    // "operations[2].line"; "" at the top.
    std::string path() const;
    // The same in a sentence: "'operations[2].line'", or "the value" at the top.
    std::string name() const;

private:
    const Place* parent_ = nullptr;
    std::string_view key_;
    std::size_t index_ = 0;
};

// Which members of an object, or items of an array, a schema has spoken of, by their number in it:
// what unevaluatedProperties and unevaluatedItems pass over.
class Marks {
public:
    void add(std::size_t index);
    void add_all() { all_ = true; }
    bool has(std::size_t index) const;
    void merge(const Marks& other);
    // What a merge costs, in steps.
    std::size_t weight() const { return 1 + rest_.size() / 8; }

private:
    bool all_ = false;
    std::uint64_t first_ = 0;  // The first 64, which is all of nearly every object.
    std::vector<std::uint64_t> rest_;
};

class Check;

// One assertion of a schema. Rules say nothing about values of types they are not for.
//
// `marks`, where not null, takes what the schema has spoken of in this very value; what is marked
// by a rule that does not hold is worth nothing, so who goes on after a no gives fresh ones.
class Rule {
public:
    virtual ~Rule() = default;
    virtual bool holds(const Value& value, Check& check, Marks* marks) const = 0;
    // Why it does not. `marks` as holds() found them.
    virtual Error explain(const Value& value, const Place& place, Check& check,
                          Marks* marks) const = 0;
};

struct Node;

// A schema with a URI of its own, as $dynamicRef sees it: for each dynamic anchor that some
// $dynamicRef names (by number) the schema there.
struct Resource {
    struct Anchor {
        std::uint32_t name;
        const Node* node;
    };
    std::vector<Anchor> anchors;
};

struct Property {
    std::string name;
    const Node* node = nullptr;  // None: the name is required and nothing else is said of it.
    bool required = false;
};

struct PatternProperty {
    std::string pattern;
    PatternTest test;
    const Node* node;
};

// What a schema says of an object's members: properties, patternProperties, additionalProperties
// and required, which are one walk over them.
struct Members {
    std::vector<Property> properties;  // As the schema lists them; names only required at the end.
    std::vector<std::string> required;
    std::vector<PatternProperty> patterns;
    const Node* additional = nullptr;
    std::vector<std::uint32_t> by_name;  // Of properties, once they are many.

    const Property* find(std::string_view name) const;
    bool fits_a_pattern(std::string_view name) const;
};

// One schema.
struct Node {
    std::uint32_t number = 0;
    bool nothing = false;  // The schema `false`.
    bool gathers = false;  // Has unevaluated…: needs marks of its own.
    bool fits_i64 = false;
    TypeSet types = kAnyType;   // Of `type`.
    TypeSet wanted = kAnyType;  // The same, through what applies to the same value.
    const Resource* resource = nullptr;
    std::vector<std::unique_ptr<Rule>> rules;

    // What accept() and messages look at; the rules look at the same.
    Members members;
    std::vector<const Node*> prefix;
    const Node* items = nullptr;
    const Node* ref = nullptr;
    std::vector<const Node*> all;  // Of allOf, anyOf and oneOf.
    std::vector<const Node*> any;
    std::vector<const Node*> one;
    const Node* condition = nullptr;  // if, then and else.
    const Node* consequence = nullptr;
    const Node* alternative = nullptr;
    std::vector<Property> dependents;  // Of dependentSchemas.
    std::optional<Value> constant;     // Of const, or of an enum of one.
};

// One walk of a value through the nodes. Once it has stopped every answer is a no that means
// nothing.
class Check {
public:
    // `scoped`: some schema has a $dynamicRef.
    explicit Check(bool scoped) : scoped_(scoped) {}

    bool holds(const Node& node, const Value& value, Marks* marks = nullptr);
    // After holds() said no of the same.
    Error explain(const Node& node, const Value& value, const Place& place, Marks* marks = nullptr);

    // False once the steps are used up. A step is about what entering a schema costs.
    bool spend(std::size_t steps);
    bool too_deep() const { return too_deep_; }
    bool too_costly() const { return spent_ > Schema::kSteps; }
    bool stopped() const { return too_deep_ || too_costly(); }
    // A float passed as an integer: accept() has something to do.
    bool saw_float_integer() const { return saw_float_integer_; }

    // Whether one more of several faults may be explained beside the others: forms within forms
    // would else be told in exponentially many words.
    bool may_tell() { return ++told_ <= kMostTold; }

    // Where a $dynamicRef that begins at `initial` leads: to the outermost schema with a URI, of
    // those that the walk is in, that has the anchor.
    const Node& dynamic_target(std::uint32_t name, const Node& initial);

private:
    struct Scope {
        const Scope* outer;
        const Resource* resource;
    };
    class Inside;

    bool has_type(const Node& node, const Value& value);

    static constexpr std::size_t kMostTold = 16;

    bool scoped_;
    std::size_t told_ = 0;
    bool too_deep_ = false;
    bool saw_float_integer_ = false;
    std::size_t depth_ = 0;  // Schemas entered that have not been left.
    std::size_t spent_ = 0;
    const Scope* scope_ = nullptr;
};

// A fault at `place`. Its message is for who sent the value: what is wrong, what would be right.
Error violation(const Place& place, std::string_view rule, std::string message, Map facts = {});
// The value is not one of `types`.
Error type_violation(const Node& node, const Value& value, const Place& place);

// What a pattern costs on `text`, in steps.
inline std::size_t matching_steps(std::string_view text) {
    return 4 + text.size() / 8;
}

// Of a member's name, in a message or its details: code points.
inline constexpr std::size_t kShownKey = 200;
// A value in a message: enough to recognise it.
std::string shown(const Value& value);

// What accept() changes before it checks. Gives up, leaving the rest as it came, when `check` runs
// out of steps. `is_unwrapped`: no string in it is unwrapped.
void normalise(const Node& node, Value& value, Check& check, bool is_unwrapped);

// A schema, compiled: all that checking needs.
struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<std::unique_ptr<Resource>> resources;
    const Node* root = nullptr;
    bool scoped = false;
};

}  // namespace quire::json::detail

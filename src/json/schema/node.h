// The compiled form of a schema, and the walk that checks a value with it. Internal to this room.
//
// There are two questions. holds() answers yes or no, builds no text, and is asked in every check;
// explain() is asked once, after a no, and follows the first fault to its place.
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

// The bits of one of JSON Schema's type names (an integer is a number too); 0 for an unknown name.
TypeSet type_named(std::string_view name);
// The types of a value: a float without fraction is an integer as well.
TypeSet types_of(const Value& value);
// The types in words: "an integer or null".
std::string types_text(TypeSet types);

// The path to the value that is being checked. Built only to explain a fault. A place points at the
// one around it, which must outlive it, and at the key.
class Place {
public:
    Place() = default;
    Place(const Place& parent, std::string_view key) : parent_(&parent), key_(key) {}
    Place(const Place& parent, std::size_t index) : parent_(&parent), index_(index) {}

    // "operations[2].line"; "" at the top.
    std::string path() const;
    // The place in a sentence: "'operations[2].line'", or "the value" for the whole value.
    std::string name() const;

private:
    const Place* parent_ = nullptr;
    std::string_view key_;
    std::size_t index_ = 0;
};

// The members of an object, or items of an array, that a schema has evaluated, by their number:
// unevaluatedProperties and unevaluatedItems skip these.
class Marks {
public:
    void add(std::size_t index);
    void add_all() { all_ = true; }
    bool has(std::size_t index) const;
    void merge(const Marks& other);
    // The cost of a merge in steps.
    std::size_t weight() const { return 1 + rest_.size() / 8; }

private:
    bool all_ = false;
    // The first 64, enough for nearly every object.
    std::uint64_t first_ = 0;
    std::vector<std::uint64_t> rest_;
};

class Check;

// One assertion of a schema. A rule ignores values of types that it is not about.
//
// `marks`, if not null, receives the evaluated members of this value. Marks of a rule that fails
// are invalid, so a caller that continues after a failure passes fresh ones.
class Rule {
public:
    virtual ~Rule() = default;
    virtual bool holds(const Value& value, Check& check, Marks* marks) const = 0;
    // The reason for a no. `marks`, if not null, are those that the rules before this one have
    // left.
    virtual Error explain(const Value& value, const Place& place, Check& check,
                          Marks* marks) const = 0;
};

struct Node;

// A schema with a URI of its own, as $dynamicRef sees it: the schema of each dynamic anchor, by the
// anchor's number.
struct Resource {
    struct Anchor {
        std::uint32_t name;
        const Node* node;
    };
    std::vector<Anchor> anchors;
};

// A member that a schema names.
struct Property {
    std::string name;
    // Null if the name is only required.
    const Node* node = nullptr;
    bool required = false;
};

struct PatternProperty {
    std::string pattern;
    PatternTest test;
    const Node* node;
};

// The assertions about an object's members (properties, patternProperties, additionalProperties,
// required), which are checked in one pass.
struct Members {
    // In schema order; names that are only required come last.
    std::vector<Property> properties;
    std::vector<std::string> required;
    std::vector<PatternProperty> patterns;
    const Node* additional = nullptr;
    std::vector<std::uint32_t> by_name;  // Indices of properties sorted by name, if there are many.

    const Property* find(std::string_view name) const;
    bool fits_a_pattern(std::string_view name) const;
};

// One schema. Filled by the compiler and constant afterwards. The numbers count the nodes of a
// graph from 0.
struct Node {
    std::uint32_t number = 0;
    bool nothing = false;  // The schema `false`.
    bool gathers = false;  // Has an unevaluated… keyword, so it needs marks of its own.
    bool fits_i64 = false;
    TypeSet types = kAnyType;  // Allowed by `type`.
    // Allowed by this schema and by those that apply to the same value.
    TypeSet wanted = kAnyType;
    const Resource* resource = nullptr;
    std::vector<std::unique_ptr<Rule>> rules;

    // The structure that accept() and messages use; the rules use the same nodes.
    Members members;
    std::vector<const Node*> prefix;
    const Node* items = nullptr;
    const Node* ref = nullptr;
    std::vector<const Node*> all;  // The branches of allOf, anyOf and oneOf.
    std::vector<const Node*> any;
    std::vector<const Node*> one;
    const Node* condition = nullptr;  // if, then and else.
    const Node* consequence = nullptr;
    const Node* alternative = nullptr;
    std::vector<Property> dependents;  // The members of dependentSchemas.
    std::optional<Value> constant;     // The value of const, or of an enum with one value.
};

// One walk of a value through the nodes. After it has stopped, every answer is a no without
// meaning. One thread. Answers depend on the path so far only where the graph is scoped.
class Check {
public:
    // `scoped`: some schema has a $dynamicRef.
    explicit Check(bool scoped) : scoped_(scoped) {}

    bool holds(const Node& node, const Value& value, Marks* marks = nullptr);
    // Call after holds() has answered no to the same question.
    Error explain(const Node& node, const Value& value, const Place& place, Marks* marks = nullptr);

    // Uses up steps; false once there are none left. One step is about the cost of entering a
    // schema.
    bool spend(std::size_t steps);
    bool too_deep() const { return too_deep_; }
    bool too_costly() const { return spent_ > Schema::kSteps; }
    bool stopped() const { return too_deep_ || too_costly(); }
    // A float was accepted as an integer, so accept() has something to change.
    bool saw_float_integer() const { return saw_float_integer_; }

    // Returns true if one more fault may be explained beside the others; otherwise forms within forms could
    // produce exponentially long messages.
    bool may_explain() { return ++explained_ <= kMostExplained; }

    // The target of a $dynamicRef that begins at `initial`: the anchor in the outermost schema with
    // a URI that the walk is in.
    const Node& dynamic_target(std::uint32_t name, const Node& initial);

private:
    struct Scope {
        const Scope* outer;
        const Resource* resource;
    };
    class Inside;

    bool has_type(const Node& node, const Value& value);

    static constexpr std::size_t kMostExplained = 16;

    bool scoped_;
    std::size_t explained_ = 0;
    bool too_deep_ = false;
    bool saw_float_integer_ = false;
    std::size_t depth_ = 0;  // Schemas entered and not yet left.
    std::size_t spent_ = 0;
    const Scope* scope_ = nullptr;
};

// A fault at `place`. The message tells the sender of the value what is wrong and what would be
// right.
Error violation(const Place& place, std::string_view rule, std::string message, Map facts = {});
// The fault that the value has none of the node's types.
Error type_violation(const Node& node, const Value& value, const Place& place);

// The cost of a pattern on `text`, in steps.
inline std::size_t matching_steps(std::string_view text) {
    return 4 + text.size() / 8;
}

// The most code points of a member's name in a message or its details.
inline constexpr std::size_t kShownKey = 200;
// A value for a message, cut so that it can be recognised.
std::string shown(const Value& value);

// Makes the changes of accept(). Stops, leaving the rest unchanged, when `check` runs out of steps.
// With `is_unwrapped` no string in the value is unwrapped.
void normalise(const Node& node, Value& value, Check& check, bool is_unwrapped);

// A compiled schema: everything that checking needs. Constant, and shared by checks on any thread.
struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<std::unique_ptr<Resource>> resources;
    const Node* root = nullptr;
    bool scoped = false;
};

}  // namespace quire::json::detail

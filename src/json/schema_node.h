// The compiled form of a schema, for schema*.cc alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"

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

struct Node;

// Where a check stands: the way to the value it looks at.
class Place {
public:
    Place() = default;
    Place(const Place& parent, std::string_view key) : parent_(&parent), key_(key) {}
    Place(const Place& parent, std::size_t index) : parent_(&parent), index_(index) {}

    // "operations[2].line"; "" at the top.
    std::string path() const;
    // The same in a sentence: "operations[2].line", or "the arguments" at the top.
    std::string name() const;

private:
    const Place* parent_ = nullptr;
    std::string_view key_;
    std::size_t index_ = 0;
};

struct Walk {
    std::size_t depth = 0;  // Schemas entered that have not been left.
};

// One assertion of a schema. Rules say nothing about values of types they are not for.
class Rule {
public:
    virtual ~Rule() = default;
    virtual Result<void> check(const Value& value, const Place& place, Walk& walk) const = 0;
};

struct Property {
    std::string name;
    const Node* node;
};

// One schema. What steers accept() is kept in the open; the rest is in the rules.
struct Node {
    bool nothing = false;  // The schema `false`.
    TypeSet types = kAnyType;
    std::vector<Property> properties;
    const Node* additional = nullptr;
    const Node* items = nullptr;
    const Node* ref = nullptr;
    std::vector<const Node*> branches;  // Of anyOf and oneOf.
    std::optional<Value> constant;      // Of const, or of an enum of one.
    std::vector<std::unique_ptr<Rule>> rules;

    const Node* property(std::string_view name) const;
};

// Depth is counted here, so every way from a schema into another goes through it.
Result<void> check(const Node& node, const Value& value, const Place& place, Walk& walk);

Failure violation(const Place& place, std::string_view rule, std::string message, Map facts = {});

// What a schema compiles into: the nodes, and how the compilers of keywords reach other schemas.
class Compiler {
public:
    explicit Compiler(const Value& root) : root_(root) {}

    Result<const Node*> compile(const Value& schema, const std::string& path);
    // The schema that a $ref names; compiled once, so that schemas may refer to themselves.
    Result<const Node*> resolve(std::string_view ref, const std::string& path);
    std::vector<std::unique_ptr<Node>> take() { return std::move(nodes_); }

private:
    struct Resolved {
        std::string ref;
        const Node* node;
    };
    Result<void> fill(Node& node, const Value& schema, const std::string& path);

    const Value& root_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::vector<Resolved> resolved_;
    std::size_t depth_ = 0;
};

// An entry of the table of keywords: compile() adds what the keyword asks for to `node`.
struct Keyword {
    std::string_view name;
    Result<void> (*compile)(Compiler& compiler, Node& node, const Value& operand,
                            const std::string& path);
};
// In the order in which rules speak: what is wrong as a whole before what is wrong inside.
std::span<const Keyword> keywords();

// Values as JSON Schema compares them: numbers by what they are worth, so that 1 is 1.0.
bool same(const Value& a, const Value& b);

Failure invalid_schema(const std::string& path, std::string_view keyword, std::string_view what);

}  // namespace quire::json::detail

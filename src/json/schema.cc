#include "json/schema.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/cat.h"
#include "json/json.h"
#include "json/schema_node.h"

namespace quire::json {
namespace detail {
namespace {

// A schema deeper than this, or a recursion of $ref without end, is a mistake or an attack.
constexpr std::size_t kDepth = 64;

struct TypeName {
    std::string_view name;
    TypeSet types;
    std::string_view phrase;
};
constexpr std::array<TypeName, 7> kTypeNames = {{{"null", kNull, "null"},
                                                 {"boolean", kBoolean, "true or false"},
                                                 {"integer", kInteger, "an integer"},
                                                 {"number", kInteger | kNumber, "a number"},
                                                 {"string", kString, "a string"},
                                                 {"array", kArray, "an array"},
                                                 {"object", kObject, "an object"}}};

bool is_annotation(std::string_view keyword) {
    constexpr std::array<std::string_view, 12> kAnnotations = {
        "title",  "description", "default",  "examples", "deprecated", "readOnly",
        "format", "writeOnly",   "$comment", "$schema",  "$defs",      "$id"};
    for (const std::string_view known : kAnnotations) {
        if (keyword == known) return true;
    }
    return false;
}

// Keywords of the standard that this checker does not have: to read over them would be to lie.
bool is_missing(std::string_view keyword) {
    constexpr std::array<std::string_view, 24> kMissing = {"allOf",
                                                           "not",
                                                           "if",
                                                           "then",
                                                           "else",
                                                           "pattern",
                                                           "patternProperties",
                                                           "propertyNames",
                                                           "dependentSchemas",
                                                           "dependentRequired",
                                                           "prefixItems",
                                                           "contains",
                                                           "minContains",
                                                           "maxContains",
                                                           "uniqueItems",
                                                           "multipleOf",
                                                           "exclusiveMinimum",
                                                           "exclusiveMaximum",
                                                           "minProperties",
                                                           "maxProperties",
                                                           "unevaluatedItems",
                                                           "unevaluatedProperties",
                                                           "$dynamicRef",
                                                           "$anchor"};
    for (const std::string_view known : kMissing) {
        if (keyword == known) return true;
    }
    return false;
}

Result<void> admit(std::string_view keyword, const std::string& path) {
    if (is_annotation(keyword) || keyword.starts_with("x-")) return {};
    for (const Keyword& known : keywords()) {
        if (known.name == keyword) return {};
    }
    if (!is_missing(keyword))
        return invalid_schema(path, keyword, "is not a keyword of JSON Schema");
    return fail(Errc::unsupported, "unsupported_keyword",
                cat("the schema at '", path, "' uses ", keyword, ", which is not checked yet"),
                {{"path", path}, {"keyword", keyword}});
}

}  // namespace

TypeSet type_named(std::string_view name) {
    for (const TypeName& type : kTypeNames) {
        if (type.name == name) return type.types;
    }
    return 0;
}

TypeSet types_of(const Value& value) {
    if (value.is_null()) return kNull;
    if (value.is_bool()) return kBoolean;
    if (value.is_int()) return kInteger | kNumber;
    if (value.is_float()) {
        return std::trunc(value.as_float()) == value.as_float() ? kInteger | kNumber : kNumber;
    }
    if (value.is_string()) return kString;
    if (value.is_list()) return kArray;
    return kObject;  // Bytes are written as an object.
}

std::string types_text(TypeSet types) {
    std::vector<std::string_view> phrases;
    for (const TypeName& type : kTypeNames) {
        if (type.name == "integer" && (types & kNumber) != 0) continue;
        if (type.name == "number" ? (types & kNumber) != 0 : (types & type.types) != 0) {
            phrases.push_back(type.phrase);
        }
    }
    std::string text;
    for (std::size_t i = 0; i < phrases.size(); ++i) {
        if (i > 0) text.append(i + 1 == phrases.size() ? " or " : ", ");
        text.append(phrases[i]);
    }
    return text;
}

std::string Place::path() const {
    if (parent_ == nullptr) return "";
    std::string path = parent_->path();
    if (key_.data() == nullptr) return cat(path, "[", index_, "]");
    return path.empty() ? std::string(key_) : cat(path, ".", key_);
}

std::string Place::name() const {
    return parent_ == nullptr ? "the value" : cat("'", path(), "'");
}

const Node* Node::property(std::string_view name) const {
    for (const Property& property : properties) {
        if (property.name == name) return property.node;
    }
    return nullptr;
}

Failure violation(const Place& place, std::string_view rule, std::string message, Map facts) {
    Map details{{"path", place.path()}, {"rule", rule}};
    for (Map::Entry& fact : facts) details.set(fact.key, std::move(fact.value));
    return invalid("invalid_arguments", std::move(message), std::move(details));
}

Failure invalid_schema(const std::string& path, std::string_view keyword, std::string_view what) {
    return invalid("invalid_schema", cat("the schema at '", path, "': ", keyword, " ", what),
                   {{"path", path}, {"keyword", keyword}});
}

Result<void> check(const Node& node, const Value& value, const Place& place, Walk& walk) {
    if (node.nothing) return violation(place, "false", cat(place.name(), " is not allowed here"));
    if (walk.depth == kDepth) {
        return fail(Errc::invalid_argument, "too_deep",
                    cat(place.name(), " nests deeper than the schema allows"),
                    {{"path", place.path()}, {"limit", kDepth}});
    }
    ++walk.depth;
    for (const auto& rule : node.rules) TRY(rule->check(value, place, walk));
    --walk.depth;
    return {};
}

Result<const Node*> Compiler::compile(const Value& schema, const std::string& path) {
    if (depth_ == kDepth) return invalid_schema(path, "schema", "nests too deep");
    Node& node = *nodes_.emplace_back(std::make_unique<Node>());
    ++depth_;
    TRY(fill(node, schema, path));
    --depth_;
    return &node;
}

Result<void> Compiler::fill(Node& node, const Value& schema, const std::string& path) {
    if (schema.is_bool()) {
        node.nothing = !schema.as_bool();
        return {};
    }
    if (!schema.is_map()) return invalid_schema(path, "a schema", "is an object, true or false");

    for (const Map::Entry& entry : schema.as_map()) TRY(admit(entry.key, path));
    for (const Keyword& keyword : keywords()) {
        if (const Value* operand = schema.get(keyword.name)) {
            TRY(keyword.compile(*this, node, *operand, cat(path, "/", keyword.name)));
        }
    }
    return {};
}

Result<const Node*> Compiler::resolve(std::string_view ref, const std::string& path) {
    for (const Resolved& known : resolved_) {
        if (known.ref == ref) return known.node;
    }
    constexpr std::string_view kDefs = "#/$defs/";
    const Value* target = nullptr;
    if (ref == "#") {
        target = &root_;
    } else if (ref.starts_with(kDefs)) {
        if (const Value* defs = root_.get("$defs")) target = defs->get(ref.substr(kDefs.size()));
    }
    if (target == nullptr)
        return invalid_schema(path, "$ref", "must be # or #/$defs/NAME that is there");

    // Known before it is filled: a schema that refers to itself meets this entry.
    if (depth_ == kDepth) return invalid_schema(path, "$ref", "nests too deep");
    Node& node = *nodes_.emplace_back(std::make_unique<Node>());
    resolved_.push_back({std::string(ref), &node});
    ++depth_;
    TRY(fill(node, *target, std::string(ref)));
    --depth_;
    return &node;
}

namespace {

// The types a value may have, seen through $ref and the branches of anyOf and oneOf.
TypeSet wanted(const Node& node, std::size_t depth = 0) {
    if (depth == kDepth) return kAnyType;
    TypeSet types = node.types;
    if (node.ref != nullptr) types &= wanted(*node.ref, depth + 1);
    if (!node.branches.empty()) {
        TypeSet any = 0;
        for (const Node* branch : node.branches) any |= wanted(*branch, depth + 1);
        types &= any;
    }
    return types;
}

// accept()'s first half: changes what a loosely typed client meant, and leaves all else for the
// check.
class Normaliser {
    // With what it lies in, what was unwrapped is no deeper than what may come as it is, so that
    // who reads an answer which holds it can read that.
    static constexpr std::size_t kUnwrappedDepth = ParseLimits{}.depth - 8;

public:
    void apply(const Node& node, Value& value, std::size_t depth) const {
        if (depth == kDepth) return;
        const TypeSet types = wanted(node);
        if (value.is_string()) {
            unwrap(types, value);
            return;
        }
        if (value.is_float()) {
            if ((types & kInteger) != 0 && (types & kNumber) == 0) make_integer(value);
            return;
        }
        if (node.ref != nullptr) apply(*node.ref, value, depth + 1);
        if (value.is_list() && node.items != nullptr) {
            for (Value& item : value.as_list()) apply(*node.items, item, depth + 1);
        }
        if (value.is_map()) {
            for (Map::Entry& entry : value.as_map()) {
                const Node* property = node.property(entry.key);
                if (property == nullptr) property = node.additional;
                if (property != nullptr) apply(*property, entry.value, depth + 1);
            }
        }
        if (!node.branches.empty()) choose_branch(node, value, depth);
    }

private:
    static void unwrap(TypeSet types, Value& value) {
        if ((types & kString) != 0 || (types & (kArray | kObject)) == 0) return;
        auto inner = parse(value.as_string(), {.depth = kUnwrappedDepth});
        if (inner && (types_of(*inner) & types & (kArray | kObject)) != 0)
            value = std::move(*inner);
    }

    static void make_integer(Value& value) {
        constexpr double kBeyond = 9223372036854775808.0;  // 2^63
        const double number = value.as_float();
        if (std::trunc(number) == number && number >= -kBeyond && number < kBeyond) {
            value = static_cast<std::int64_t>(number);
        }
    }

    // The first branch that what it makes of the value satisfies.
    void choose_branch(const Node& node, Value& value, std::size_t depth) const {
        for (const Node* branch : node.branches) {
            Value tried = value;
            apply(*branch, tried, depth + 1);
            Walk walk;
            if (detail::check(*branch, tried, Place(), walk)) {
                value = std::move(tried);
                return;
            }
        }
    }
};

}  // namespace
}  // namespace detail

struct Schema::Body {
    std::vector<std::unique_ptr<detail::Node>> nodes;
    const detail::Node* root = nullptr;
};

Schema::Schema(std::unique_ptr<const Body> body) : body_(std::move(body)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

Result<Schema> Schema::compile(const Value& schema) {
    detail::Compiler compiler(schema);
    auto body = std::make_unique<Body>();
    body->root = TRY(compiler.resolve("#", "#"));
    body->nodes = compiler.take();
    return Schema(std::move(body));
}

Result<void> Schema::check(const Value& instance) const {
    detail::Walk walk;
    return detail::check(*body_->root, instance, detail::Place(), walk);
}

Result<Value> Schema::accept(Value instance) const {
    detail::Normaliser().apply(*body_->root, instance, 0);
    TRY(check(instance));
    return instance;
}

}  // namespace quire::json

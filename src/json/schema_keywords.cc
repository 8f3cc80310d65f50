// The keywords of JSON Schema, each a rule and the function that compiles it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/cat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/schema_node.h"

namespace quire::json::detail {
bool same(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) {
        return a.is_int() && b.is_int() ? a.as_int() == b.as_int() : a.as_number() == b.as_number();
    }
    if (a.is_list() && b.is_list()) {
        return std::equal(a.as_list().begin(), a.as_list().end(), b.as_list().begin(),
                          b.as_list().end(), same);
    }
    if (a.is_map() && b.is_map()) {
        if (a.as_map().size() != b.as_map().size()) return false;
        return std::all_of(a.as_map().begin(), a.as_map().end(), [&](const Map::Entry& entry) {
            const Value* other = b.get(entry.key);
            return other != nullptr && same(entry.value, *other);
        });
    }
    return a == b;
}

namespace {

using Compiled = Result<void>;

// A value in a message: enough to recognise it.
std::string shown(const Value& value) {
    constexpr std::size_t kShown = 60;
    const std::string text = write(value);
    const std::string_view head = utf8::prefix(text, kShown);
    return head.size() == text.size() ? text : cat(head, "…");
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) cat_to(text, text.empty() ? name : cat(", ", name));
    return text;
}

Value as_list(const std::vector<std::string>& names) {
    List list;
    for (const std::string& name : names) list.emplace_back(name);
    return list;
}

class TypeRule final : public Rule {
public:
    explicit TypeRule(TypeSet types) : types_(types) {}
    Result<void> check(const Value& value, const Place& place, Walk&) const override {
        if ((types_of(value) & types_) == 0) {
            return violation(place, "type",
                             cat(place.name(), " must be ", types_text(types_), ", not ",
                                 kind_name(value) == "null" ? "null" : shown(value)),
                             {{"expected", types_text(types_)}, {"actual", kind_name(value)}});
        }
        // An i64 is what readers of an integer hold; a float beyond it cannot become one.
        constexpr double kBeyond = 9223372036854775808.0;
        if ((types_ & kNumber) == 0 && value.is_float() && std::fabs(value.as_float()) >= kBeyond) {
            return violation(place, "type",
                             cat(place.name(), " must be an integer of at most 64 bits"),
                             {{"expected", "an integer"}, {"actual", "number"}});
        }
        return {};
    }

private:
    TypeSet types_;
};

Compiled compile_type(Compiler&, Node& node, const Value& operand, const std::string& path) {
    TypeSet types = 0;
    const auto add = [&](const Value& name) {
        const TypeSet named = name.is_string() ? type_named(name.as_string()) : TypeSet{0};
        types |= named;
        return named != 0;
    };
    const bool good = operand.is_list()
                          ? !operand.as_list().empty() &&
                                std::all_of(operand.as_list().begin(), operand.as_list().end(), add)
                          : add(operand);
    if (!good) return invalid_schema(path, "type", "must be a type name or a list of them");
    node.types = types;
    node.rules.push_back(std::make_unique<TypeRule>(types));
    return {};
}

class EnumRule final : public Rule {
public:
    EnumRule(std::string_view rule, List allowed) : rule_(rule), allowed_(std::move(allowed)) {}
    Result<void> check(const Value& value, const Place& place, Walk&) const override {
        std::string choices;
        for (const Value& choice : allowed_) {
            if (same(value, choice)) return {};
            cat_to(choices, cat(choices.empty() ? "" : ", ", write(choice)));
        }
        return violation(place, rule_,
                         cat(place.name(), " must be ", allowed_.size() > 1 ? "one of " : "",
                             choices, ", not ", shown(value)),
                         {{"allowed", allowed_}});
    }

private:
    std::string_view rule_;
    List allowed_;
};

Compiled compile_enum(Compiler&, Node& node, const Value& operand, const std::string& path) {
    if (!operand.is_list()) return invalid_schema(path, "enum", "must be an array");
    if (operand.as_list().size() == 1) node.constant = operand.as_list().front();
    node.rules.push_back(std::make_unique<EnumRule>("enum", operand.as_list()));
    return {};
}

Compiled compile_const(Compiler&, Node& node, const Value& operand, const std::string&) {
    node.constant = operand;
    node.rules.push_back(std::make_unique<EnumRule>("const", List{operand}));
    return {};
}

class RequiredRule final : public Rule {
public:
    explicit RequiredRule(std::vector<std::string> names) : names_(std::move(names)) {}
    Result<void> check(const Value& value, const Place& place, Walk&) const override {
        if (!value.is_map()) return {};
        std::vector<std::string> missing;
        for (const std::string& name : names_) {
            if (value.get(name) == nullptr) missing.push_back(name);
        }
        if (missing.empty()) return {};
        return violation(
            Place(place, missing.front()), "required",
            cat(missing.size() == 1 ? "required field missing: " : "required fields missing: ",
                joined(missing), place.path().empty() ? "" : cat(" in ", place.path())),
            {{"missing", as_list(missing)}});
    }

private:
    std::vector<std::string> names_;
};

Compiled compile_required(Compiler&, Node& node, const Value& operand, const std::string& path) {
    std::vector<std::string> names;
    if (!operand.is_list()) return invalid_schema(path, "required", "must be an array of names");
    for (const Value& name : operand.as_list()) {
        if (!name.is_string()) return invalid_schema(path, "required", "must be an array of names");
        names.push_back(name.as_string());
    }
    node.rules.push_back(std::make_unique<RequiredRule>(std::move(names)));
    return {};
}

class PropertiesRule final : public Rule {
public:
    explicit PropertiesRule(const Node& node) : node_(node) {}
    Result<void> check(const Value& value, const Place& place, Walk& walk) const override {
        if (!value.is_map()) return {};
        for (const Property& property : node_.properties) {
            if (const Value* member = value.get(property.name)) {
                TRY(detail::check(*property.node, *member, Place(place, property.name), walk));
            }
        }
        return {};
    }

private:
    const Node& node_;
};

Compiled compile_properties(Compiler& compiler, Node& node, const Value& operand,
                            const std::string& path) {
    if (!operand.is_map())
        return invalid_schema(path, "properties", "must be an object of schemas");
    for (const Map::Entry& entry : operand.as_map()) {
        const Node* member = TRY(compiler.compile(entry.value, cat(path, "/", entry.key)));
        node.properties.push_back({entry.key, member});
    }
    node.rules.push_back(std::make_unique<PropertiesRule>(node));
    return {};
}

// How many single-letter changes make one name the other, at most `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
    if (a.size() > 64 || b.size() > 64) return limit + 1;
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

class AdditionalRule final : public Rule {
public:
    explicit AdditionalRule(const Node& node) : node_(node) {}
    Result<void> check(const Value& value, const Place& place, Walk& walk) const override {
        if (!value.is_map()) return {};
        for (const Map::Entry& entry : value.as_map()) {
            if (node_.property(entry.key) != nullptr) continue;
            const Place member(place, entry.key);
            if (node_.additional->nothing) return unknown(entry.key, place, member);
            TRY(detail::check(*node_.additional, entry.value, member, walk));
        }
        return {};
    }

private:
    Result<void> unknown(const std::string& key, const Place& place, const Place& member) const {
        std::vector<std::string> known;
        std::string nearest;
        std::size_t least = 3;
        for (const Property& property : node_.properties) {
            known.push_back(property.name);
            const std::size_t apart = distance(key, property.name, least);
            if (apart < least) {
                least = apart;
                nearest = property.name;
            }
        }
        return violation(member, "additionalProperties",
                         cat("unknown field '", utf8::prefix(key, 64), "'",
                             place.path().empty() ? "" : cat(" in ", place.path()),
                             nearest.empty() ? "" : cat(" (did you mean '", nearest, "'?)"),
                             known.empty() ? "; there are no fields here"
                                           : cat("; the fields are: ", joined(known))),
                         {{"field", key}, {"allowed", as_list(known)}});
    }

    const Node& node_;
};

Compiled compile_additional(Compiler& compiler, Node& node, const Value& operand,
                            const std::string& path) {
    node.additional = TRY(compiler.compile(operand, path));
    node.rules.push_back(std::make_unique<AdditionalRule>(node));
    return {};
}

class ItemsRule final : public Rule {
public:
    explicit ItemsRule(const Node& items) : items_(items) {}
    Result<void> check(const Value& value, const Place& place, Walk& walk) const override {
        if (!value.is_list()) return {};
        std::size_t index = 0;
        for (const Value& item : value.as_list()) {
            TRY(detail::check(items_, item, Place(place, index++), walk));
        }
        return {};
    }

private:
    const Node& items_;
};

Compiled compile_items(Compiler& compiler, Node& node, const Value& operand,
                       const std::string& path) {
    node.items = TRY(compiler.compile(operand, path));
    node.rules.push_back(std::make_unique<ItemsRule>(*node.items));
    return {};
}

// minimum and maximum.
class BoundRule final : public Rule {
public:
    BoundRule(bool upper, Value bound) : upper_(upper), bound_(std::move(bound)) {}
    Result<void> check(const Value& value, const Place& place, Walk&) const override {
        if (!value.is_number()) return {};
        const bool exact = value.is_int() && bound_.is_int();
        const bool below =
            exact ? value.as_int() < bound_.as_int() : value.as_number() < bound_.as_number();
        const bool above =
            exact ? value.as_int() > bound_.as_int() : value.as_number() > bound_.as_number();
        if (upper_ ? !above : !below) return {};
        return violation(place, upper_ ? "maximum" : "minimum",
                         cat(place.name(), " must be at ", upper_ ? "most " : "least ",
                             write(bound_), ", not ", shown(value)),
                         {{"limit", bound_}});
    }

private:
    bool upper_;
    Value bound_;
};

template <bool upper>
Compiled compile_bound(Compiler&, Node& node, const Value& operand, const std::string& path) {
    if (!operand.is_number()) return invalid_schema(path, "a bound", "must be a number");
    node.rules.push_back(std::make_unique<BoundRule>(upper, operand));
    return {};
}

// How much of something there may be: the code points of a string, the items of an array.
class SizeRule final : public Rule {
public:
    SizeRule(std::string_view rule, bool upper, TypeSet types, std::int64_t bound)
        : rule_(rule), upper_(upper), types_(types), bound_(bound) {}
    Result<void> check(const Value& value, const Place& place, Walk&) const override {
        if ((types_of(value) & types_) == 0) return {};
        const auto size =
            static_cast<std::int64_t>(value.is_string() ? utf8::count_code_points(value.as_string())
                                                        : value.as_list().size());
        if (upper_ ? size <= bound_ : size >= bound_) return {};
        return violation(place, rule_,
                         cat(place.name(), " must have at ", upper_ ? "most " : "least ", bound_,
                             value.is_string() ? " characters" : " items", ", not ", size),
                         {{"limit", bound_}, {"actual", size}});
    }

private:
    std::string_view rule_;
    bool upper_;
    TypeSet types_;
    std::int64_t bound_;
};

struct SizeKeyword {
    std::string_view rule;
    bool upper;
    TypeSet types;
};

Compiled add_size(Node& node, SizeKeyword keyword, const Value& operand, const std::string& path) {
    const auto [rule, upper, types] = keyword;
    if (!operand.is_int() || operand.as_int() < 0) {
        return invalid_schema(path, rule, "must be an integer that is not negative");
    }
    node.rules.push_back(std::make_unique<SizeRule>(rule, upper, types, operand.as_int()));
    return {};
}

Compiled compile_min_length(Compiler&, Node& node, const Value& operand, const std::string& path) {
    return add_size(node, {"minLength", false, kString}, operand, path);
}
Compiled compile_max_length(Compiler&, Node& node, const Value& operand, const std::string& path) {
    return add_size(node, {"maxLength", true, kString}, operand, path);
}
Compiled compile_min_items(Compiler&, Node& node, const Value& operand, const std::string& path) {
    return add_size(node, {"minItems", false, kArray}, operand, path);
}
Compiled compile_max_items(Compiler&, Node& node, const Value& operand, const std::string& path) {
    return add_size(node, {"maxItems", true, kArray}, operand, path);
}

class BranchesRule final : public Rule {
public:
    BranchesRule(bool exactly_one, std::vector<const Node*> branches)
        : exactly_one_(exactly_one), branches_(std::move(branches)) {}

    Result<void> check(const Value& value, const Place& place, Walk& walk) const override {
        std::size_t matching = 0;
        std::size_t near = 0;
        std::vector<Error> faults;       // Of the branches that the value may have been meant for.
        std::vector<std::string> forms;  // What the others would have wanted.
        for (const Node* branch : branches_) {
            Walk inside{walk.depth};
            auto checked = detail::check(*branch, value, place, inside);
            if (checked) {
                if (!exactly_one_) return {};
                ++matching;
            } else if (std::string form = excluding(*branch, value); !form.empty()) {
                if (std::find(forms.begin(), forms.end(), form) == forms.end()) {
                    forms.push_back(std::move(form));
                }
            } else {
                faults.push_back(std::move(checked).error());
                ++near;
            }
        }
        if (matching == 1) return {};
        if (matching > 1) {
            return violation(place, "oneOf",
                             cat(place.name(), " matches more than one of its forms"));
        }
        if (near == 1) return Failure(std::move(faults.front()));
        if (near == 0) {
            return violation(place, "oneOf", cat(place.name(), " must be one of: ", joined(forms)),
                             {{"forms", as_list(forms)}});
        }
        std::string each;
        for (const Error& fault : faults)
            cat_to(each, cat(each.empty() ? "" : "; or ", fault.message()));
        return violation(place, "anyOf", cat(place.name(), " fits none of its forms: ", each));
    }

private:
    // Why `value` was never meant to be of this branch, as what the branch wants of it: another
    // type, or another constant in a member such as "op". "" when it may well have been.
    static std::string excluding(const Node& branch, const Value& value) {
        const Node& node = branch.ref != nullptr ? *branch.ref : branch;
        if ((types_of(value) & node.types) == 0) return types_text(node.types);
        for (const Property& property : node.properties) {
            if (!property.node->constant) continue;
            const Value* member = value.get(property.name);
            if (member == nullptr || !same(*member, *property.node->constant)) {
                return cat(property.name, " = ", write(*property.node->constant));
            }
        }
        return {};
    }

    bool exactly_one_;
    std::vector<const Node*> branches_;
};

template <bool exactly_one>
Compiled compile_branches(Compiler& compiler, Node& node, const Value& operand,
                          const std::string& path) {
    if (!operand.is_list() || operand.as_list().empty()) {
        return invalid_schema(path, exactly_one ? "oneOf" : "anyOf", "must be an array of schemas");
    }
    std::vector<const Node*> branches;
    std::size_t index = 0;
    for (const Value& branch : operand.as_list()) {
        branches.push_back(TRY(compiler.compile(branch, cat(path, "/", index++))));
    }
    node.branches.insert(node.branches.end(), branches.begin(), branches.end());
    node.rules.push_back(std::make_unique<BranchesRule>(exactly_one, std::move(branches)));
    return {};
}

class RefRule final : public Rule {
public:
    explicit RefRule(const Node& target) : target_(target) {}
    Result<void> check(const Value& value, const Place& place, Walk& walk) const override {
        return detail::check(target_, value, place, walk);
    }

private:
    const Node& target_;
};

Compiled compile_ref(Compiler& compiler, Node& node, const Value& operand,
                     const std::string& path) {
    if (!operand.is_string()) return invalid_schema(path, "$ref", "must be a string");
    node.ref = TRY(compiler.resolve(operand.as_string(), path));
    node.rules.push_back(std::make_unique<RefRule>(*node.ref));
    return {};
}

constexpr std::array<Keyword, 16> kKeywords = {{
    {"type", compile_type},
    {"const", compile_const},
    {"enum", compile_enum},
    {"$ref", compile_ref},
    {"anyOf", compile_branches<false>},
    {"oneOf", compile_branches<true>},
    {"additionalProperties", compile_additional},
    {"required", compile_required},
    {"properties", compile_properties},
    {"minItems", compile_min_items},
    {"maxItems", compile_max_items},
    {"items", compile_items},
    {"minimum", compile_bound<false>},
    {"maximum", compile_bound<true>},
    {"minLength", compile_min_length},
    {"maxLength", compile_max_length},
}};

}  // namespace

std::span<const Keyword> keywords() {
    return kKeywords;
}

}  // namespace quire::json::detail

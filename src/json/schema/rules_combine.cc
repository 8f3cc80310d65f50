// The keywords that apply other schemas to the same value: references, allOf, anyOf, oneOf, not,
// and conditions. A branch that fails must leave no marks behind, so a branch whose failure is
// allowed gets marks of its own, which are merged only after success.
#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "json/json.h"
#include "json/schema/compile.h"
#include "json/schema/keywords.h"
#include "json/schema/number.h"

namespace quire::json::detail {
namespace {

// $ref.
class RefRule final : public Rule {
public:
    explicit RefRule(const Node& target) : target_(target) {}
    bool holds(const Value& value, Check& check, Marks* marks) const override {
        return check.holds(target_, value, marks);
    }
    Error explain(const Value& value, const Place& place, Check& check,
                  Marks* marks) const override {
        return check.explain(target_, value, place, marks);
    }

private:
    const Node& target_;
};

// $dynamicRef.
class DynamicRefRule final : public Rule {
public:
    DynamicRefRule(const Node& initial, std::uint32_t name) : initial_(initial), name_(name) {}
    bool holds(const Value& value, Check& check, Marks* marks) const override {
        return check.holds(check.dynamic_target(name_, initial_), value, marks);
    }
    Error explain(const Value& value, const Place& place, Check& check,
                  Marks* marks) const override {
        return check.explain(check.dynamic_target(name_, initial_), value, place, marks);
    }

private:
    const Node& initial_;
    std::uint32_t name_;
};

// allOf.
class AllRule final : public Rule {
public:
    explicit AllRule(const Node& node) : node_(node) {}
    bool holds(const Value& value, Check& check, Marks* marks) const override {
        return std::ranges::all_of(
            node_.all, [&](const Node* part) { return check.holds(*part, value, marks); });
    }
    Error explain(const Value& value, const Place& place, Check& check,
                  Marks* marks) const override {
        for (const Node* part : node_.all) {
            if (!check.holds(*part, value)) return check.explain(*part, value, place, marks);
        }
        return violation(place, "allOf", cat(place.name(), " does not fit"));
    }

private:
    const Node& node_;
};

// Asks `node` where a no does not end the check: its marks count only after a yes. A merge costs
// steps in proportion to the marks, or wide objects under many branches would be free.
bool tried(const Node& node, const Value& value, Check& check, Marks* marks) {
    if (marks == nullptr) return check.holds(node, value);
    Marks own;
    if (!check.holds(node, value, &own) || !check.spend(own.weight())) return false;
    marks->merge(own);
    return true;
}

// The most forms that a message lists.
constexpr std::size_t kMostForms = 64;

// anyOf and oneOf. All branches are tried where marks are gathered, even after anyOf has its
// verdict, since each that holds has evaluated members.
class BranchesRule final : public Rule {
public:
    BranchesRule(bool exactly_one, std::vector<const Node*> branches)
        : exactly_one_(exactly_one), branches_(std::move(branches)) {}

    bool holds(const Value& value, Check& check, Marks* marks) const override {
        std::size_t matching = 0;
        for (const Node* branch : branches_) {
            if (!tried(*branch, value, check, marks)) continue;
            ++matching;
            if (exactly_one_ ? matching > 1 : marks == nullptr) break;
        }
        return exactly_one_ ? matching == 1 : matching > 0;
    }

    // If the value was meant for one branch, explains that one; otherwise lists what the branches
    // want.
    Error explain(const Value& value, const Place& place, Check& check,
                  Marks* marks) const override {
        std::vector<const Node*> near;   // Branches that the value may have been meant for.
        std::vector<std::string> forms;  // Descriptions of the other branches.
        std::string matching;
        std::size_t number = 0;
        for (const Node* branch : branches_) {
            ++number;
            if (branch->nothing) continue;
            if (check.holds(*branch, value)) {
                cat_to(matching, cat(matching.empty() ? "" : ", ", number));
            } else if (std::string form = excluding(*branch, value, check); form.empty()) {
                near.push_back(branch);
            } else if (forms.size() < kMostForms && std::ranges::find(forms, form) == forms.end()) {
                forms.push_back(std::move(form));
            }
        }
        if (!matching.empty()) {
            return violation(place, "oneOf",
                             cat(place.name(), " matches more than one of its forms (number ",
                                 matching, "); leave only what belongs to one of them"));
        }
        if (near.size() == 1) return check.explain(*near.front(), value, place, marks);
        if (near.empty() && !forms.empty()) {
            return violation(place, rule(), cat(place.name(), " must be one of: ", joined(forms)),
                             {{"forms", as_list(forms)}});
        }
        std::string each;
        for (const Node* branch : near) {
            if (!check.may_explain()) break;
            const Error fault = check.explain(*branch, value, place, marks);
            cat_to(each, cat(each.empty() ? ": " : "; or ", fault.message()));
        }
        return violation(place, rule(), cat(place.name(), " fits none of its forms", each));
    }

private:
    std::string_view rule() const { return exactly_one_ ? "oneOf" : "anyOf"; }

    // Why `value` cannot be meant for this branch: the type or constant that the branch requires,
    // as in a member "op". "" if it may be meant.
    static std::string excluding(const Node& branch, const Value& value, Check& check) {
        if ((types_of(value) & branch.wanted) == 0) return types_text(branch.wanted);
        const Node& node = branch.ref != nullptr ? *branch.ref : branch;
        for (const Property& property : node.members.properties) {
            if (property.node == nullptr || !property.node->constant) continue;
            const Value* member = value.get(property.name);
            if (member == nullptr || !same(*member, *property.node->constant, check)) {
                return cat(property.name, " = ", write(*property.node->constant));
            }
        }
        return {};
    }

    bool exactly_one_;
    std::vector<const Node*> branches_;
};

// not. A walk that has stopped answers no everywhere, and `not` would turn that into a yes.
class NotRule final : public Rule {
public:
    explicit NotRule(const Node& node) : node_(node) {}
    bool holds(const Value& value, Check& check, Marks*) const override {
        return !check.holds(node_, value) && !check.stopped();
    }
    Error explain(const Value& value, const Place& place, Check&, Marks*) const override {
        std::string what = "what the schema's `not` describes";
        if (node_.constant) {
            what = write(*node_.constant);
        } else if (node_.rules.empty()) {
            what = node_.types == kAnyType ? "here" : types_text(node_.types);
        }
        return violation(place, "not",
                         cat(place.name(), " must not be ", what, ", and is ", shown(value)));
    }

private:
    const Node& node_;
};

// if, then and else. The condition's marks count when it holds, whatever the branch says.
class ConditionRule final : public Rule {
public:
    explicit ConditionRule(const Node& node) : node_(node) {}
    bool holds(const Value& value, Check& check, Marks* marks) const override {
        const Node* side = side_for(value, check, marks);
        return side == nullptr || check.holds(*side, value, marks);
    }
    Error explain(const Value& value, const Place& place, Check& check,
                  Marks* marks) const override {
        const Node* side = side_for(value, check, marks);
        if (side == nullptr) return violation(place, "if", cat(place.name(), " does not fit"));
        return check.explain(*side, value, place, marks);
    }

private:
    const Node* side_for(const Value& value, Check& check, Marks* marks) const {
        return tried(*node_.condition, value, check, marks) ? node_.consequence : node_.alternative;
    }

    const Node& node_;
};

// dependentSchemas. Marks of a schema that fails are never used: the rule has failed then.
class DependentSchemasRule final : public Rule {
public:
    explicit DependentSchemasRule(const Node& node) : node_(node) {}
    bool holds(const Value& value, Check& check, Marks* marks) const override {
        return first_fault(value, check, marks) == nullptr;
    }
    Error explain(const Value& value, const Place& place, Check& check,
                  Marks* marks) const override {
        const Property* fault = first_fault(value, check, nullptr);
        if (fault == nullptr) {
            return violation(place, "dependentSchemas", cat(place.name(), " does not fit"));
        }
        return check.explain(*fault->node, value, place, marks)
            .within(cat("because '", fault->name, "' is there"));
    }

private:
    const Property* first_fault(const Value& value, Check& check, Marks* marks) const {
        if (!value.is_map()) return nullptr;
        for (const Property& dependency : node_.dependents) {
            check.spend(1 + value.as_map().size() / 16);
            if (value.get(dependency.name) == nullptr) continue;
            if (!check.holds(*dependency.node, value, marks)) return &dependency;
        }
        return nullptr;
    }

    const Node& node_;
};

Result<Compiler::Referred> referred(const Site& site) {
    if (!site.operand.is_string()) return site.wrong("must be a URI");
    auto referred =
        TRY(site.compiler.refer(site.operand.as_string(), site.part, site.trail, site.keyword));
    return referred;
}

}  // namespace

Result<void> compile_ref(const Site& site) {
    const Node* target = TRY(referred(site)).node;
    site.compiler.applies_here(site.node, *target);
    site.node.ref = target;
    site.add(std::make_unique<RefRule>(*target));
    return {};
}

// The target is known only during the check; endless loops there end at the depth limit.
Result<void> compile_dynamic_ref(const Site& site) {
    const Compiler::Referred target = TRY(referred(site));
    if (target.dynamic) {
        site.add(std::make_unique<DynamicRefRule>(*target.node, *target.dynamic));
        return {};
    }
    site.compiler.applies_here(site.node, *target.node);
    site.add(std::make_unique<RefRule>(*target.node));
    return {};
}

Result<void> compile_all_of(const Site& site) {
    site.node.all = TRY(site.children(Site::For::here));
    site.add(std::make_unique<AllRule>(site.node));
    return {};
}

Result<void> compile_branches(const Site& site) {
    auto branches = TRY(site.children(Site::For::here));
    auto& all = site.keyword == "oneOf" ? site.node.one : site.node.any;
    all = branches;
    site.add(std::make_unique<BranchesRule>(site.keyword == "oneOf", std::move(branches)));
    return {};
}

Result<void> compile_not(const Site& site) {
    const Node* node = TRY(site.child(site.operand, Site::For::here));
    site.add(std::make_unique<NotRule>(*node));
    return {};
}

Result<void> compile_if(const Site& site) {
    Node& node = site.node;
    node.condition = TRY(site.child(site.operand, Site::For::here));
    if (const Value* then = site.beside("then")) {
        node.consequence = TRY(site.child(*then, Site::For::here));
    }
    if (const Value* otherwise = site.beside("else")) {
        node.alternative = TRY(site.child(*otherwise, Site::For::here));
    }
    site.add(std::make_unique<ConditionRule>(node));
    return {};
}

Result<void> compile_dependent_schemas(const Site& site) {
    if (!site.operand.is_map()) return site.wrong("must be an object of schemas");
    for (const Map::Entry& entry : site.operand.as_map()) {
        const Node* node = TRY(site.child(entry.value, Site::For::here, entry.key));
        site.node.dependents.push_back({entry.key, node});
    }
    site.add(std::make_unique<DependentSchemasRule>(site.node));
    return {};
}

}  // namespace quire::json::detail

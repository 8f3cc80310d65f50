// The keywords about an object's members: properties and its relatives, required, propertyNames,
// dependentRequired and unevaluatedProperties. holds() visits each member once and looks its name
// up among the declared ones. explain() runs only after a failure. It reports all missing members
// together and suggests the nearest declared name for an unknown one.
#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/schema/keywords.h"
#include "text/nearest.h"

namespace quire::json::detail {
namespace {

std::string in_text(const Place& place) {
    const std::string path = place.path();
    return path.empty() ? "" : cat(" in ", path);
}

// An unknown member, with words that help with a typing mistake.
Error unknown_field(std::string_view rule, const Members& members, const std::string& key,
                    const Place& place) {
    std::vector<std::string> known;
    text::Nearest nearest(key);
    for (const Property& property : members.properties) {
        if (property.node == nullptr) continue;
        known.push_back(property.name);
        nearest.offer(property.name);
    }
    std::string fields = cat("; the fields are: ", joined(known));
    if (known.empty()) {
        fields = members.patterns.empty() ? "; there are no fields here"
                                          : "; the fields are those whose names match ";
    } else if (!members.patterns.empty()) {
        cat_to(fields, ", and those whose names match ");
    }
    for (const PatternProperty& property : members.patterns) {
        cat_to(fields, cat(&property == members.patterns.data() ? "" : " or ", property.pattern));
    }
    return violation(Place(place, key), rule,
                     cat("unknown field '", utf8::prefix(key, 64), "'", in_text(place),
                         nearest.suggestion(), fields),
                     {{"field", utf8::prefix(key, kShownKey)}, {"allowed", as_list(known)}});
}

// properties, patternProperties, additionalProperties and required. explain() looks for unknown
// members first: a name that is misspelt is often the one that is missing, and the suggestion names
// it.
class MembersRule final : public Rule {
public:
    explicit MembersRule(const Members& members) : members_(members) {}

    bool holds(const Value& value, Check& check, Marks* marks) const override {
        if (!value.is_map()) return true;
        std::size_t present = 0;
        std::size_t index = 0;
        for (const Map::Entry& entry : value.as_map()) {
            const Property* property = members_.find(entry.key);
            if (property != nullptr && property->required) ++present;
            if (!member_holds(property, entry, check, marks, index++)) return false;
        }
        return present == members_.required.size();
    }

    // Missing members are reported together, other faults one at a time.
    Error explain(const Value& value, const Place& place, Check& check, Marks*) const override {
        for (const Map::Entry& entry : value.as_map()) {
            if (members_.additional != nullptr && members_.additional->nothing &&
                !is_known(entry.key)) {
                return unknown_field("additionalProperties", members_, entry.key, place);
            }
        }
        std::vector<std::string> missing;
        for (const std::string& name : members_.required) {
            if (value.get(name) == nullptr) missing.push_back(name);
        }
        if (!missing.empty()) {
            return violation(
                Place(place, missing.front()), "required",
                cat(missing.size() == 1 ? "required field missing: " : "required fields missing: ",
                    joined(missing), in_text(place)),
                {{"missing", as_list(missing)}});
        }
        // Checked in the schema's order, not the value's.
        for (const Property& property : members_.properties) {
            const Value* member = value.get(property.name);
            if (member == nullptr || property.node == nullptr) continue;
            if (!check.holds(*property.node, *member)) {
                return check.explain(*property.node, *member, Place(place, property.name));
            }
        }
        for (const Map::Entry& entry : value.as_map()) {
            const Place member(place, entry.key);
            for (const PatternProperty& property : members_.patterns) {
                if (property.test(entry.key) && !check.holds(*property.node, entry.value)) {
                    return check.explain(*property.node, entry.value, member);
                }
            }
            if (members_.additional != nullptr && !is_known(entry.key) &&
                !check.holds(*members_.additional, entry.value)) {
                return check.explain(*members_.additional, entry.value, member);
            }
        }
        return violation(place, "properties", cat(place.name(), " has a field that does not fit"));
    }

private:
    bool is_known(std::string_view name) const {
        const Property* property = members_.find(name);
        return (property != nullptr && property->node != nullptr) || members_.fits_a_pattern(name);
    }

    bool member_holds(const Property* property, const Map::Entry& entry, Check& check, Marks* marks,
                      std::size_t index) const {
        bool known = property != nullptr && property->node != nullptr;
        if (known && !check.holds(*property->node, entry.value)) return false;
        for (const PatternProperty& pattern : members_.patterns) {
            if (!check.spend(matching_steps(entry.key))) return false;
            if (!pattern.test(entry.key)) continue;
            if (!check.holds(*pattern.node, entry.value)) return false;
            known = true;
        }
        if (!known) {
            if (members_.additional == nullptr) return check.spend(1);
            if (!check.holds(*members_.additional, entry.value)) return false;
        }
        if (marks != nullptr) marks->add(index);
        return true;
    }

    const Members& members_;
};

// The rule of the schema, created by the first of its keywords. The callers put something into it
// at once; otherwise the next one would make a second rule.
Members& members_of(const Site& site) {
    Members& members = site.node.members;
    if (members.properties.empty() && members.patterns.empty() && members.required.empty() &&
        members.additional == nullptr) {
        site.add(std::make_unique<MembersRule>(members));
    }
    return members;
}

// propertyNames. Each name is checked as if it were a string value. The copy of a long name is paid
// for in steps.
class NamesRule final : public Rule {
public:
    explicit NamesRule(const Node& names) : names_(names) {}
    bool holds(const Value& value, Check& check, Marks*) const override {
        if (!value.is_map()) return true;
        return std::ranges::all_of(value.as_map(), [&](const Map::Entry& entry) {
            return check.spend(entry.key.size() / 64) && check.holds(names_, Value(entry.key));
        });
    }
    Error explain(const Value& value, const Place& place, Check& check, Marks*) const override {
        for (const Map::Entry& entry : value.as_map()) {
            const Value name(entry.key);
            if (check.holds(names_, name)) continue;
            const Place member(place, entry.key);
            if (names_.nothing) {
                return violation(place, "propertyNames",
                                 cat(place.name(), " must have no fields, and has '",
                                     utf8::prefix(entry.key, 64), "'"));
            }
            return check.explain(names_, name, member).within("the name of a field does not fit");
        }
        return violation(place, "propertyNames",
                         cat(place.name(), " has a name that does not fit"));
    }

private:
    const Node& names_;
};

// dependentRequired.
class DependentRequiredRule final : public Rule {
public:
    struct Dependency {
        std::string name;
        std::vector<std::string> needed;
    };
    explicit DependentRequiredRule(std::vector<Dependency> dependencies)
        : dependencies_(std::move(dependencies)) {}

    bool holds(const Value& value, Check& check, Marks*) const override {
        if (!value.is_map()) return true;
        // The cost of get() for each.
        const std::size_t look = 1 + value.as_map().size() / 16;
        for (const Dependency& dependency : dependencies_) {
            if (!check.spend(look)) return false;
            if (value.get(dependency.name) == nullptr) continue;
            for (const std::string& needed : dependency.needed) {
                if (!check.spend(look) || value.get(needed) == nullptr) return false;
            }
        }
        return true;
    }
    Error explain(const Value& value, const Place& place, Check&, Marks*) const override {
        for (const Dependency& dependency : dependencies_) {
            if (value.get(dependency.name) == nullptr) continue;
            for (const std::string& needed : dependency.needed) {
                if (value.get(needed) != nullptr) continue;
                return violation(Place(place, needed), "dependentRequired",
                                 cat("required field missing: ", needed, in_text(place),
                                     ", because ", dependency.name, " is there"),
                                 {{"missing", List{needed}}, {"because", dependency.name}});
            }
        }
        return violation(place, "dependentRequired", cat(place.name(), " lacks a field"));
    }

private:
    std::vector<Dependency> dependencies_;
};

// unevaluatedProperties. The table has it last, so that all other rules of the schema have left
// their marks. Afterwards every member counts as evaluated, for schemas around this one.
class UnevaluatedPropertiesRule final : public Rule {
public:
    UnevaluatedPropertiesRule(const Node& rest, const Members& members)
        : rest_(rest), members_(members) {}
    // `marks` is never null here: the node gathers.
    bool holds(const Value& value, Check& check, Marks* marks) const override {
        if (!value.is_map()) return true;
        std::size_t index = 0;
        for (const Map::Entry& entry : value.as_map()) {
            if (!marks->has(index++) && !check.holds(rest_, entry.value)) return false;
        }
        marks->add_all();
        return true;
    }
    Error explain(const Value& value, const Place& place, Check& check,
                  Marks* marks) const override {
        std::size_t index = 0;
        for (const Map::Entry& entry : value.as_map()) {
            if (marks->has(index++) || check.holds(rest_, entry.value)) continue;
            if (rest_.nothing) {
                return unknown_field("unevaluatedProperties", members_, entry.key, place);
            }
            return check.explain(rest_, entry.value, Place(place, entry.key));
        }
        return violation(place, "unevaluatedProperties",
                         cat(place.name(), " has a field that does not fit"));
    }

private:
    const Node& rest_;
    const Members& members_;
};

// The names must differ, as the standard demands: required members are counted, not looked up.
Result<std::vector<std::string>> names_in(const Site& site, const Value& operand) {
    constexpr std::string_view kWanted = "must be an array of names, each once";
    if (!operand.is_list()) return site.wrong(kWanted);
    std::vector<std::string> names;
    for (const Value& name : operand.as_list()) {
        if (!name.is_string()) return site.wrong(kWanted);
        names.push_back(name.as_string());
    }
    auto sorted = names;
    std::ranges::sort(sorted);
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        return site.wrong(kWanted);
    }
    return names;
}

}  // namespace

Result<void> compile_additional(const Site& site) {
    Members& members = members_of(site);
    members.additional = TRY(site.child(site.operand, Site::For::inside));
    return {};
}

// The table has `required` before `properties`, so the names are known when the members are made.
Result<void> compile_required(const Site& site) {
    auto names = TRY(names_in(site, site.operand));
    if (!names.empty()) members_of(site).required = std::move(names);
    // Without `properties` these are the only known names.
    const Value* properties = site.beside("properties");
    if (properties != nullptr && properties->is_map()) return {};
    for (const std::string& name : site.node.members.required) {
        site.node.members.properties.push_back({name, nullptr, true});
    }
    return {};
}

Result<void> compile_properties(const Site& site) {
    if (!site.operand.is_map()) return site.wrong("must be an object of schemas");
    if (site.operand.as_map().empty() && site.node.members.required.empty()) return {};
    Members& members = members_of(site);
    auto required = members.required;
    std::ranges::sort(required);
    for (const Map::Entry& entry : site.operand.as_map()) {
        const Node* member = TRY(site.child(entry.value, Site::For::inside, entry.key));
        const bool is_required = std::ranges::binary_search(required, entry.key);
        members.properties.push_back({entry.key, member, is_required});
    }
    for (const std::string& name : members.required) {
        if (site.operand.get(name) == nullptr) members.properties.push_back({name, nullptr, true});
    }
    return {};
}

Result<void> compile_pattern_properties(const Site& site) {
    if (!site.operand.is_map()) return site.wrong("must be an object of schemas");
    for (const Map::Entry& entry : site.operand.as_map()) {
        PatternTest test = TRY(site.pattern(entry.key));
        const Node* node = TRY(site.child(entry.value, Site::For::inside, entry.key));
        members_of(site).patterns.push_back({entry.key, std::move(test), node});
    }
    return {};
}

Result<void> compile_property_names(const Site& site) {
    const Node* names = TRY(site.child(site.operand, Site::For::inside));
    site.add(std::make_unique<NamesRule>(*names));
    return {};
}

Result<void> compile_dependent_required(const Site& site) {
    if (!site.operand.is_map()) return site.wrong("must be an object of arrays of names");
    std::vector<DependentRequiredRule::Dependency> dependencies;
    for (const Map::Entry& entry : site.operand.as_map()) {
        std::vector<std::string> names = TRY(names_in(site, entry.value));
        dependencies.push_back({entry.key, std::move(names)});
    }
    site.add(std::make_unique<DependentRequiredRule>(std::move(dependencies)));
    return {};
}

Result<void> compile_unevaluated_properties(const Site& site) {
    const Node* rest = TRY(site.child(site.operand, Site::For::inside));
    site.node.gathers = true;
    site.add(std::make_unique<UnevaluatedPropertiesRule>(*rest, site.node.members));
    return {};
}

}  // namespace quire::json::detail

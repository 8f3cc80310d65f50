// The keywords about a value alone: its type, enum and const, the bounds of numbers, the sizes and
// patterns of strings. Numbers are compared exactly, integers with floats too.
//
// Each keyword has a function that checks its operand and adds a Rule to the node; a rule ignores
// values of other types, as the standard has it. `type` is the exception: it becomes a set of bits
// in the node, which the walk tests before it asks any rule.
#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/schema/keywords.h"
#include "json/schema/number.h"
#include "text/nearest.h"

namespace quire::json::detail {

// In a strict schema an integer must fit 64 bits, because our own tools read it into one.
Result<void> compile_type(const Site& site) {
    TypeSet types = 0;
    const auto add = [&](const Value& name) {
        const TypeSet named = name.is_string() ? type_named(name.as_string()) : TypeSet{0};
        types |= named;
        return named != 0;
    };
    const Value& operand = site.operand;
    const bool good = operand.is_list() ? !operand.as_list().empty() &&
                                              std::ranges::all_of(operand.as_list(), add)
                                        : add(operand);
    if (!good) {
        return site.wrong(
            "must be null, boolean, integer, number, string, array or object, or a list of these");
    }
    site.node.types = types;
    site.node.fits_i64 = site.strict() && (types & kNumber) == 0;
    return {};
}

namespace {

// enum and const. Choices are compared as JSON Schema compares values: 1 and 1.0 are equal, and
// members have no order. A message lists the choices up to a bound, and the nearest of them for a
// word that may be misspelt.
class EnumRule final : public Rule {
public:
    EnumRule(std::string_view rule, List allowed) : rule_(rule), allowed_(std::move(allowed)) {}
    bool holds(const Value& value, Check& check, Marks*) const override {
        return std::ranges::any_of(allowed_,
                                   [&](const Value& choice) { return same(value, choice, check); });
    }
    Error explain(const Value& value, const Place& place, Check&, Marks*) const override {
        constexpr std::size_t kListed = 4096;  // The most bytes of listed choices.
        std::string choices;
        for (const Value& choice : allowed_) {
            if (choices.size() > kListed) {
                choices.append(", …");
                break;
            }
            cat_to(choices, cat(choices.empty() ? "" : ", ", write(choice)));
        }
        text::Nearest nearest(value.is_string() ? std::string_view(value.as_string()) : "");
        for (const Value& choice : allowed_) {
            if (choice.is_string() && value.is_string()) nearest.offer(choice.as_string());
        }
        return violation(place, rule_,
                         cat(place.name(), " must be ", allowed_.size() > 1 ? "one of " : "",
                             allowed_.empty() ? "left out: nothing is allowed here" : choices,
                             ", not ", shown(value), nearest.suggestion()),
                         {{"allowed", allowed_}});
    }

private:
    std::string_view rule_;
    List allowed_;
};

// minimum, maximum and their exclusive forms.
class BoundRule final : public Rule {
public:
    BoundRule(std::string_view rule, Value bound)
        : rule_(rule),
          upper_(rule == "maximum" || rule == "exclusiveMaximum"),
          exclusive_(rule.starts_with("exclusive")),
          bound_(std::move(bound)) {}
    bool holds(const Value& value, Check&, Marks*) const override {
        if (!value.is_number()) return true;
        const auto order = compare_numbers(value, bound_);
        if (order == 0) return !exclusive_;
        return upper_ ? order < 0 : order > 0;
    }
    Error explain(const Value& value, const Place& place, Check&, Marks*) const override {
        std::string_view relation = upper_ ? "at most " : "at least ";
        if (exclusive_) relation = upper_ ? "less than " : "more than ";
        return violation(
            place, rule_,
            cat(place.name(), " must be ", relation, write(bound_), ", not ", shown(value)),
            {{"limit", bound_}});
    }

private:
    std::string_view rule_;
    bool upper_;
    bool exclusive_;
    Value bound_;
};

// multipleOf.
class MultipleRule final : public Rule {
public:
    explicit MultipleRule(Value unit) : unit_(std::move(unit)) {}
    bool holds(const Value& value, Check&, Marks*) const override {
        return !value.is_number() || is_multiple(value, unit_);
    }
    Error explain(const Value& value, const Place& place, Check&, Marks*) const override {
        return violation(
            place, "multipleOf",
            cat(place.name(), " must be a multiple of ", write(unit_), ", not ", shown(value)),
            {{"unit", unit_}});
    }

private:
    Value unit_;
};

// Limits on a size: the code points of a string, the items of an array, the members of an object.
// The keyword's name tells the type, and its prefix the side. A string is counted only when its
// bytes leave the verdict open, and the count is paid for in steps.
class SizeRule final : public Rule {
public:
    SizeRule(std::string_view rule, std::int64_t bound)
        : rule_(rule),
          upper_(rule.starts_with("max")),
          types_(rule.ends_with("Length")  ? kString
                 : rule.ends_with("Items") ? kArray
                                           : kObject),
          bound_(bound) {}
    bool holds(const Value& value, Check& check, Marks*) const override {
        if ((types_of(value) & types_) == 0) return true;
        if (value.is_string()) {
            // A code point has one to four bytes, so most strings need no count.
            const auto bytes = static_cast<std::int64_t>(value.as_string().size());
            if (upper_ ? bytes <= bound_ : bytes / 4 >= bound_) return true;
            if (!check.spend(value.as_string().size() / 256)) return false;
        }
        const std::int64_t size = size_of(value);
        return upper_ ? size <= bound_ : size >= bound_;
    }
    Error explain(const Value& value, const Place& place, Check&, Marks*) const override {
        const std::int64_t size = size_of(value);
        const std::string_view unit = types_ == kString  ? " characters"
                                      : types_ == kArray ? " items"
                                                         : " fields";
        return violation(place, rule_,
                         cat(place.name(), " must have at ", upper_ ? "most " : "least ", bound_,
                             unit, ", not ", size),
                         {{"limit", bound_}, {"actual", size}});
    }

private:
    static std::int64_t size_of(const Value& value) {
        std::size_t size = 0;
        if (value.is_string()) size = utf8::count_code_points(value.as_string());
        if (value.is_list()) size = value.as_list().size();
        if (value.is_map()) size = value.as_map().size();
        if (value.is_bytes()) size = 1;  // Bytes are written {"$bytes": "…"}.
        return static_cast<std::int64_t>(size);
    }

    std::string_view rule_;
    bool upper_;
    TypeSet types_;
    std::int64_t bound_;
};

// pattern.
class PatternRule final : public Rule {
public:
    PatternRule(std::string pattern, PatternTest test)
        : pattern_(std::move(pattern)), test_(std::move(test)) {}
    bool holds(const Value& value, Check& check, Marks*) const override {
        if (!value.is_string()) return true;
        return check.spend(matching_steps(value.as_string())) && test_(value.as_string());
    }
    Error explain(const Value& value, const Place& place, Check&, Marks*) const override {
        return violation(place, "pattern",
                         cat(place.name(), " must match the pattern ", pattern_, ", and ",
                             shown(value), " does not"),
                         {{"pattern", pattern_}});
    }

private:
    std::string pattern_;
    PatternTest test_;
};

}  // namespace

// A single choice is a constant: branches of a oneOf are told apart by those.
Result<void> compile_enum(const Site& site) {
    if (!site.operand.is_list()) return site.wrong("must be an array");
    const List& allowed = site.operand.as_list();
    if (allowed.size() == 1) site.node.constant = allowed.front();
    site.add(std::make_unique<EnumRule>("enum", allowed));
    return {};
}

Result<void> compile_const(const Site& site) {
    site.node.constant = site.operand;
    site.add(std::make_unique<EnumRule>("const", List{site.operand}));
    return {};
}

Result<void> compile_bound(const Site& site) {
    if (!site.operand.is_number()) return site.wrong("must be a number");
    site.add(std::make_unique<BoundRule>(site.keyword, site.operand));
    return {};
}

Result<void> compile_multiple_of(const Site& site) {
    if (!site.operand.is_number() || compare_numbers(site.operand, 0) <= 0) {
        return site.wrong("must be a number above 0");
    }
    site.add(std::make_unique<MultipleRule>(site.operand));
    return {};
}

Result<void> compile_size(const Site& site) {
    const auto bound = count_operand(site.operand);
    if (!bound) return site.wrong("must be an integer that is not negative");
    site.add(std::make_unique<SizeRule>(site.keyword, *bound));
    return {};
}

Result<void> compile_pattern(const Site& site) {
    if (!site.operand.is_string()) return site.wrong("must be a regular expression in a string");
    PatternTest test = TRY(site.pattern(site.operand.as_string()));
    site.add(std::make_unique<PatternRule>(site.operand.as_string(), std::move(test)));
    return {};
}

}  // namespace quire::json::detail

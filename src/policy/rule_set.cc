// Compiling turns rules into flat arrays, so that a call is checked without a look at a rule:
//
// rules  --place-->  sorted by priority, each with its tool or kEveryTool
//        --markers-> bit sets: exits_, continues_, starts_
//        --duties--> the conditions for ending a loop (exit_… checks)
//        --checks--> for each tool a range of checks_, in the order of refusals
//        --summary-> for each tool the same checks, merged
//
// A set of tools is stored as the words of a bit set that are not zero (RuleCheck::Part), so
// testing it costs one AND per 64 tools. The summary answers the usual question (does everything
// hold?) with a check per kind and period instead of one per rule; the full list is read only to
// name the rule that refuses. Compiling is O(rules × tools); nothing changes afterwards.

#include "policy/rule_set.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"

namespace quire::policy {

using Kind = RuleCheck::Kind;

bool IndexSet::empty() const {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
}

void IndexSet::clear() {
    std::ranges::fill(words_, 0);
}

// The steps build on each other: checks need the markers, summaries the checks.
RuleSet::RuleSet(std::shared_ptr<const ToolCatalog> catalog, std::vector<ToolRule> common,
                 std::vector<ToolRule> own)
    : catalog_(std::move(catalog)) {
    const std::size_t tools = catalog_->size();
    place(std::move(common), std::move(own));
    note_named();
    exits_ = continues_ = starts_ = IndexSet(tools);
    for (IndexSet& each : remembered_) each = IndexSet(tools);
    compile_markers();
    compile_duties();
    for (std::size_t tool = 0; tool < tools; ++tool) {
        first_check_.push_back(static_cast<std::uint32_t>(checks_.size()));
        std::vector<RuleCheck> found;
        compile_checks(tool, found);
        // The check of the operation itself comes before all others, whatever their priority.
        std::ranges::stable_sort(found, [](const RuleCheck& a, const RuleCheck& b) {
            return std::pair(a.kind != Kind::operation, a.rule) <
                   std::pair(b.kind != Kind::operation, b.rule);
        });
        checks_.insert(checks_.end(), found.begin(), found.end());
    }
    first_check_.push_back(static_cast<std::uint32_t>(checks_.size()));
    for (std::size_t tool = 0; tool < tools; ++tool) summarise(tool);
    listed_ = callable_ = IndexSet(tools);
    for (std::size_t tool = 0; tool < tools; ++tool) note_left(tool);
}

// Records whether any operation of the tool is left, and whether agents can call it.
void RuleSet::note_left(std::size_t tool) {
    const KnownTool& known = catalog_->tools()[tool];
    const auto left = allowed_operations(known.name);
    if (!left || !left->empty()) listed_.add(tool);
    const auto is_there = [&](const std::string& word) {
        return std::ranges::find(known.later, word) == known.later.end();
    };
    const bool any = !left || std::any_of(left->begin(), left->end(), is_there);
    if (any && why_absent(known).empty()) callable_.add(tool);
}

// A stable sort keeps the file's order among rules of equal priority.
void RuleSet::place(std::vector<ToolRule> common, std::vector<ToolRule> own) {
    for (ToolRule& rule : common) rules_.push_back({std::move(rule), Level::common});
    for (ToolRule& rule : own) rules_.push_back({std::move(rule), Level::own});
    std::ranges::stable_sort(
        rules_, [](const Placed& a, const Placed& b) { return a.rule.priority > b.rule.priority; });
    for (const Placed& each : rules_) {
        const auto tool = catalog_->index_of(each.rule.tool);
        CHECK(tool || each.rule.for_every_tool());
        rule_tools_.push_back(tool.value_or(kEveryTool));
    }
}

// Notes which tools are named by rules of each level and type.
void RuleSet::note_named() {
    named_.assign(2 * std::size(kEvery<RuleType>), IndexSet(catalog_->size()));
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        if (rule_tools_[i] == kEveryTool) continue;
        const auto level = static_cast<std::size_t>(rules_[i].level);
        const auto type = static_cast<std::size_t>(rule(i).type);
        named_[level * std::size(kEvery<RuleType>) + type].add(rule_tools_[i]);
    }
}

bool RuleSet::is_named(Level level, RuleType type, std::size_t tool) const {
    return named_[static_cast<std::size_t>(level) * std::size(kEvery<RuleType>) +
                  static_cast<std::size_t>(type)]
        .has(tool);
}

// A rule for "*" gives way to a rule of its level and type that names the tool.
bool RuleSet::is_replaced(std::size_t rule, std::size_t tool) const {
    if (rule_tools_[rule] != kEveryTool) return false;
    const Level level = rules_[rule].level;
    const RuleType type = rules_[rule].rule.type;
    if (type == RuleType::exit_loop || type == RuleType::continue_loop) {
        return is_named(level, RuleType::exit_loop, tool) ||
               is_named(level, RuleType::continue_loop, tool);
    }
    return is_named(level, type, tool);
}

// For "*" the rule must not be replaced, and the tool must not be one of those it lists.
bool RuleSet::applies(std::size_t rule, std::size_t tool) const {
    const ToolRule& what = rules_[rule].rule;
    if (what.type == RuleType::exclusive_groups) {
        const std::string& name = catalog_->tools()[tool].name;
        const bool in_group = std::ranges::any_of(what.groups, [&](const auto& group) {
            return std::ranges::find(group, name) != group.end();
        });
        return in_group && !is_replaced(rule, tool);
    }
    if (rule_tools_[rule] != kEveryTool) return rule_tools_[rule] == tool;
    if (is_replaced(rule, tool)) return false;
    if (what.type == RuleType::requires_following_tools && exits_.has(tool)) return false;
    const std::string& name = catalog_->tools()[tool].name;
    return std::ranges::find(what.tools, name) == what.tools.end();
}

// A set, so that a tool listed twice counts once.
std::vector<std::size_t> RuleSet::listed_tools(std::size_t rule) const {
    std::set<std::size_t> out;
    for (const std::string& name : rules_[rule].rule.tools) {
        const auto index = catalog_->index_of(name);
        CHECK(index);
        out.insert(*index);
    }
    return {out.begin(), out.end()};
}

// A tool with exclusive_groups of its own leaves the groups of a rule for "*".
std::vector<std::size_t> RuleSet::group_members(std::size_t rule, std::size_t group) const {
    std::set<std::size_t> out;
    for (const std::string& name : rules_[rule].rule.groups[group]) {
        const auto index = catalog_->index_of(name);
        CHECK(index);
        if (!is_replaced(rule, *index)) out.insert(*index);
    }
    return {out.begin(), out.end()};
}

std::vector<std::string> RuleSet::sentences() const {
    std::vector<std::string> out;
    out.reserve(rules_.size());
    for (const Placed& each : rules_) out.push_back(in_words(each.rule));
    return out;
}

// The intersection over all rules for the tool.
std::optional<std::vector<std::string>> RuleSet::allowed_operations(std::string_view tool) const {
    const auto index = catalog_->index_of(tool);
    if (!index) return std::nullopt;
    std::optional<std::set<std::string>> left;
    for (const RuleCheck& check : checks(*index)) {
        if (check.kind != Kind::operation) continue;
        const std::vector<std::string>& allowed = rule(check.rule).operations;
        std::set<std::string> both;
        for (const std::string& word : allowed) {
            if (!left || left->contains(word)) both.insert(word);
        }
        left = std::move(both);
    }
    if (!left) return std::nullopt;
    return std::vector<std::string>(left->begin(), left->end());
}

bool RuleSet::is_listed(std::string_view tool) const {
    const auto left = allowed_operations(tool);
    return !left || !left->empty();
}

std::span<const RuleCheck> RuleSet::checks(std::size_t tool) const {
    return std::span(checks_).subspan(first_check_[tool],
                                      first_check_[tool + 1] - first_check_[tool]);
}

void RuleSet::remember(Per per, std::size_t tool) {
    remembered_[static_cast<std::size_t>(per)].add(tool);
}

// Appends the set to parts_ and returns its place there.
RuleCheck::Span RuleSet::span_of(std::vector<std::size_t> indices) {
    std::ranges::sort(indices);
    RuleCheck::Span span{static_cast<std::uint32_t>(parts_.size()), 0};
    for (const std::size_t index : indices) {
        const auto word = static_cast<std::uint32_t>(index / 64);
        if (parts_.size() == span.begin || parts_.back().word != word) parts_.push_back({word, 0});
        parts_.back().bits |= std::uint64_t{1} << (index % 64);
    }
    span.end = static_cast<std::uint32_t>(parts_.size());
    return span;
}

// The part of a check that is the same for all kinds.
RuleCheck RuleSet::check_of(Kind kind, std::uint32_t index) const {
    RuleCheck check;
    check.kind = kind;
    check.per = rule(index).per;
    check.rule = index;
    check.number = rule(index).number;
    return check;
}

// Rules that only mark tools: starts, ends, continuations and periodic calls.
void RuleSet::compile_markers() {
    for (std::uint32_t i = 0; i < rules_.size(); ++i) {
        const RuleType type = rule(i).type;
        if (type == RuleType::start_constraint) {
            start_rules_.push_back(i);
            starts_.add(rule_tools_[i]);
        } else if (type == RuleType::periodic) {
            periodic_rules_.push_back(i);
        } else if (type == RuleType::exit_loop || type == RuleType::continue_loop) {
            for (std::size_t tool = 0; tool < catalog_->size(); ++tool) {
                if (!applies(i, tool)) continue;
                (type == RuleType::exit_loop ? exits_ : continues_).add(tool);
            }
        }
    }
}

// Rules that only matter when a loop ends.
void RuleSet::compile_duties() {
    for (std::uint32_t i = 0; i < rules_.size(); ++i) {
        const RuleType type = rule(i).type;
        if (type == RuleType::required_before_exit) {
            RuleCheck duty = check_of(Kind::exit_required, i);
            duty.set = span_of({rule_tools_[i]});
            duties_.push_back(duty);
        } else if (type == RuleType::required_before_exit_if) {
            RuleCheck duty = check_of(Kind::exit_required_if, i);
            duty.set = span_of({rule_tools_[i]});
            duty.others = span_of(listed_tools(i));
            duties_.push_back(duty);
        } else if (type == RuleType::requires_following_tools) {
            RuleCheck duty = check_of(Kind::exit_following, i);
            duty.set = span_of(listed_tools(i));
            for (std::size_t tool = 0; tool < catalog_->size(); ++tool) {
                if (!applies(i, tool)) continue;
                duty.number = static_cast<std::int64_t>(tool);
                duties_.push_back(duty);
            }
        }
    }
}

// Adds the duty as a check of one tool that ends the loop, as if that tool had succeeded already.
void RuleSet::add_exit_check(RuleCheck duty, std::size_t exit, std::vector<RuleCheck>& out) {
    const auto has = [&](RuleCheck::Span span) {
        const auto all = parts(span);
        return std::ranges::any_of(all, [&](const RuleCheck::Part& part) {
            return part.word == exit / 64 && ((part.bits >> (exit % 64)) & 1U) != 0;
        });
    };
    if (duty.kind == Kind::exit_following) {
        if (static_cast<std::size_t>(duty.number) == exit) {
            duty.kind = Kind::exit_never;
        } else if (has(duty.set)) {
            std::vector<std::size_t> rest = listed_tools(duty.rule);
            std::erase(rest, exit);
            if (rest.empty()) return;
            duty.set = span_of(std::move(rest));
        }
    } else {
        if (has(duty.set)) return;
        if (duty.kind == Kind::exit_required_if && has(duty.others))
            duty.kind = Kind::exit_required;
    }
    out.push_back(duty);
}

// Turns one rule into its checks for one tool, and notes whose calls have to be counted.
void RuleSet::add_checks(std::uint32_t index, std::size_t tool, std::vector<RuleCheck>& out) {
    const ToolRule& what = rule(index);
    switch (what.type) {
        case RuleType::allowed_operations: {
            RuleCheck check = check_of(Kind::operation, index);
            const auto& declared = catalog_->tools()[tool].operations;
            std::set<std::size_t> allowed;
            for (const std::string& word : what.operations) {
                const auto found = std::ranges::find(declared, word);
                CHECK(found != declared.end());
                allowed.insert(static_cast<std::size_t>(found - declared.begin()));
            }
            check.set = span_of({allowed.begin(), allowed.end()});
            out.push_back(check);
            break;
        }
        case RuleType::max_calls:
        case RuleType::cooldown:
            remember(what.per, tool);
            out.push_back(
                check_of(what.type == RuleType::max_calls ? Kind::calls : Kind::cooldown, index));
            break;
        case RuleType::requires_preceding_tools: {
            RuleCheck check = check_of(Kind::preceding, index);
            const std::vector<std::size_t> before = listed_tools(index);
            for (const std::size_t each : before) remember(what.per, each);
            check.set = span_of(before);
            out.push_back(check);
            break;
        }
        case RuleType::exclusive_groups:
            for (std::size_t i = 0; i < what.groups.size(); ++i) {
                std::vector<std::size_t> members = group_members(index, i);
                if (std::erase(members, tool) == 0 || members.empty()) continue;
                remember(what.per, tool);
                RuleCheck check = check_of(Kind::group, index);
                check.set = span_of(std::move(members));
                out.push_back(check);
            }
            break;
        case RuleType::requires_consent:
            out.push_back(check_of(Kind::consent, index));
            break;
        case RuleType::start_constraint:
        case RuleType::requires_following_tools:
        case RuleType::required_before_exit:
        case RuleType::required_before_exit_if:
        case RuleType::continue_loop:
        case RuleType::exit_loop:
        case RuleType::periodic:
        case RuleType::needed:
            break;
    }
}

void RuleSet::compile_checks(std::size_t tool, std::vector<RuleCheck>& out) {
    for (std::uint32_t i = 0; i < rules_.size(); ++i) {
        if (applies(i, tool)) add_checks(i, tool, out);
    }
    if (!exits_.has(tool)) return;
    for (const RuleCheck& duty : duties_) add_exit_check(duty, tool, out);
}

// The tools of a span, unpacked.
std::set<std::size_t> RuleSet::members_of(RuleCheck::Span span) const {
    std::set<std::size_t> out;
    for (const RuleCheck::Part& part : parts(span)) {
        for (std::size_t bit = 0; bit < 64; ++bit) {
            if (((part.bits >> bit) & 1U) != 0) out.insert(std::size_t{part.word} * 64 + bit);
        }
    }
    return out;
}

// Merges the checks of a tool that have the same kind, period and subject: the lowest limit, the
// longest cooldown, the common operations, the union of everything else.
void RuleSet::summarise(std::size_t tool) {
    struct Bound {
        RuleCheck check;
        // For duties: the tool that they are about.
        std::size_t of = 0;
        std::set<std::size_t> members = {};
    };
    std::vector<Bound> bounds;
    std::vector<std::uint32_t> consents;
    for (const RuleCheck& check : checks(tool)) {
        if (check.kind == Kind::consent) {
            consents.push_back(check.rule);
            continue;
        }
        const bool conditional = check.kind == Kind::exit_required_if;
        Bound made{check};
        if (check.kind == Kind::exit_following) made.of = static_cast<std::size_t>(check.number);
        if (conditional) made.of = *members_of(check.set).begin();
        made.members = members_of(conditional ? check.others : check.set);
        const auto same = std::ranges::find_if(bounds, [&](const Bound& each) {
            return each.check.kind == check.kind && each.check.per == check.per &&
                   each.of == made.of;
        });
        if (same == bounds.end()) {
            bounds.push_back(std::move(made));
        } else if (check.kind == Kind::calls) {
            same->check.number = std::min(same->check.number, check.number);
        } else if (check.kind == Kind::cooldown) {
            same->check.number = std::max(same->check.number, check.number);
        } else if (check.kind == Kind::operation) {
            std::erase_if(same->members,
                          [&](std::size_t each) { return !made.members.contains(each); });
        } else {
            same->members.merge(made.members);
        }
    }
    std::vector<RuleCheck> out;
    for (Bound& each : bounds) {
        const RuleCheck::Span span = span_of({each.members.begin(), each.members.end()});
        (each.check.kind == Kind::exit_required_if ? each.check.others : each.check.set) = span;
        out.push_back(each.check);
    }
    summaries_.push_back(std::move(out));
    consents_.push_back(std::move(consents));
}

}  // namespace quire::policy

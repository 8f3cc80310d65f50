// The rules that hold for one agent, compiled. Both the sentences of the agent's prompt and the
// checks of its calls come from this object. Immutable; usable from any thread.
//
// The common rules and the agent's own rules are two levels, and both hold. Within one level and
// for one tool, rules that name the tool replace rules of the same type for "*". exit_loop and
// continue_loop count as one type here: a rule of either that names the tool replaces both for "*".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/tool_catalog.h"
#include "policy/tool_rule.h"

namespace quire::policy {

// The two levels of rules.
enum class Level : std::uint8_t { common, own };

// A set of small numbers: the tools of the catalog, or the operations of one tool, by index. One
// bit for each, so that a check of many tools is a few words. An index must be below the size.
class IndexSet {
public:
    IndexSet() = default;
    explicit IndexSet(std::size_t size) : words_((size + 63) / 64) {}
    void add(std::size_t index) { words_[index / 64] |= std::uint64_t{1} << (index % 64); }
    void remove(std::size_t index) { words_[index / 64] &= ~(std::uint64_t{1} << (index % 64)); }
    bool has(std::size_t index) const { return ((words_[index / 64] >> (index % 64)) & 1U) != 0; }
    // Makes room for indices below `size`.
    void grow(std::size_t size) { words_.resize((size + 63) / 64); }
    bool empty() const;
    void clear();
    std::uint64_t word(std::size_t at) const { return words_[at]; }
    std::size_t words() const { return words_.size(); }
    friend bool operator==(const IndexSet&, const IndexSet&) = default;

private:
    std::vector<std::uint64_t> words_;
};

// One check before a call of one tool; a rule yields one or several.
struct RuleCheck {
    // The kinds of checks; they decide how the other members are read.
    enum class Kind : std::uint8_t {
        operation,  // The operation is in the set.
        calls,      // Called fewer than `number` times.
        cooldown,   // The last call began `number` ms ago or more.
        // All tools of the set have succeeded.
        preceding,
        // No tool of the set was called.
        group,
        consent,  // A person agreed.
        // The call ends the loop, and all tools of the set have succeeded in it …
        exit_required,
        // … if any tool of `others` did.
        exit_required_if,
        // … after the last success of tool `number`, if it succeeded.
        exit_following,
        // The call would end the loop, but something must follow it: never allowed.
        exit_never,
    };
    // The bits of a set that fall into one word.
    struct Part {
        std::uint32_t word = 0;
        std::uint64_t bits = 0;
    };
    // A range of RuleSet::parts().
    struct Span {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };
    Kind kind = Kind::operation;
    Per per = Per::session;
    std::uint32_t rule = 0;  // RuleSet::rules()[rule]
    Span set = {};           // A span of RuleSet::parts().
    Span others = {};
    std::int64_t number = 0;
};

// The compiled rules.
class RuleSet {
public:
    // A rule and its level.
    struct Placed {
        ToolRule rule;
        Level level = Level::common;
    };

    // Every tool that the rules name must be in the catalog (rule_book.h checks that). O(rules ×
    // tools).
    RuleSet(std::shared_ptr<const ToolCatalog> catalog, std::vector<ToolRule> common,
            std::vector<ToolRule> own);

    const ToolCatalog& catalog() const { return *catalog_; }
    // Ordered by priority, highest first; then common before own; then by place in the file.
    // Sentences and refusals follow this order.
    std::span<const Placed> rules() const { return rules_; }
    const ToolRule& rule(std::size_t index) const { return rules_[index].rule; }
    // One sentence per rule, in the same order.
    std::vector<std::string> sentences() const;

    // The operations of the tool that are still allowed, sorted; nothing if all of them are.
    std::optional<std::vector<std::string>> allowed_operations(std::string_view tool) const;
    // Returns true if any operation of the tool is left. A tool without operations is always listed.
    bool is_listed(std::string_view tool) const;
    bool is_listed(std::size_t tool) const { return listed_.has(tool); }
    // Returns true if agents can call it at all: they have the tool, and an operation that exists is left.
    bool is_callable(std::size_t tool) const { return callable_.has(tool); }

    // Returns true if the rule is about calls of the tool: it names the tool, or it is for "*" and not
    // replaced. exclusive_groups: the tool is in one of the groups. A rule for "*" that lists tools
    // is not about those, and requires_following_tools for "*" not about tools that end the loop.
    bool applies(std::size_t rule, std::size_t tool) const;
    // Returns true if the rule is for "*" and a rule that names the tool replaces it.
    bool is_replaced(std::size_t rule, std::size_t tool) const;
    // The tools that a rule lists; for exclusive_groups, the tools of group `group` that it binds.
    std::vector<std::size_t> listed_tools(std::size_t rule) const;
    std::vector<std::size_t> group_members(std::size_t rule, std::size_t group) const;

    bool ends_loop(std::size_t tool) const { return exits_.has(tool); }
    bool continues_loop(std::size_t tool) const { return continues_.has(tool); }
    bool has_exits() const { return !exits_.empty(); }
    bool starts_loop(std::size_t tool) const { return starts_.has(tool); }
    // The rules of type start_constraint, in order.
    std::span<const std::uint32_t> start_rules() const { return start_rules_; }
    std::span<const std::uint32_t> periodic_rules() const { return periodic_rules_; }

    // All checks before a call of the tool, in the order of the rules. For the automaton.
    std::span<const RuleCheck> checks(std::size_t tool) const;
    // Fewer checks that hold exactly if all of checks() do: equal checks of several rules are
    // merged.
    std::span<const RuleCheck> summary(std::size_t tool) const { return summaries_[tool]; }
    // The rules that require a person's consent to the tool.
    std::span<const std::uint32_t> consents(std::size_t tool) const { return consents_[tool]; }
    // The conditions for ending a loop, whichever tool ends it: checks of the exit_… kinds.
    std::span<const RuleCheck> duties() const { return duties_; }
    std::span<const RuleCheck::Part> parts(RuleCheck::Span span) const {
        return std::span(parts_).subspan(span.begin, span.end - span.begin);
    }
    const IndexSet& start_tools() const { return starts_; }
    // The tools whose calls must be counted over that period.
    const IndexSet& remembered(Per per) const { return remembered_[static_cast<std::size_t>(per)]; }
    // The tool that the rule names; a number beyond the catalog for "*".
    std::size_t tool_of(std::size_t rule) const { return rule_tools_[rule]; }

private:
    static constexpr std::size_t kEveryTool = static_cast<std::size_t>(-1);

    // The steps of the constructor, in this order; each uses what those before have found.
    void place(std::vector<ToolRule> common, std::vector<ToolRule> own);
    void note_named();
    void compile_markers();
    void compile_duties();
    void compile_checks(std::size_t tool, std::vector<RuleCheck>& out);
    void add_checks(std::uint32_t index, std::size_t tool, std::vector<RuleCheck>& out);
    void summarise(std::size_t tool);
    void note_left(std::size_t tool);
    std::set<std::size_t> members_of(RuleCheck::Span span) const;
    void add_exit_check(RuleCheck duty, std::size_t exit, std::vector<RuleCheck>& out);
    RuleCheck check_of(RuleCheck::Kind kind, std::uint32_t index) const;
    RuleCheck::Span span_of(std::vector<std::size_t> indices);
    bool is_named(Level level, RuleType type, std::size_t tool) const;
    void remember(Per per, std::size_t tool);

    std::shared_ptr<const ToolCatalog> catalog_;
    std::vector<Placed> rules_;
    std::vector<std::size_t> rule_tools_;  // kEveryTool for "*".
    // The tools that rules name, indexed by level and type.
    std::vector<IndexSet> named_;
    IndexSet exits_;
    IndexSet continues_;
    IndexSet starts_;
    IndexSet listed_;
    IndexSet callable_;
    IndexSet remembered_[std::size(kEvery<Per>)];
    std::vector<std::uint32_t> start_rules_;
    std::vector<std::uint32_t> periodic_rules_;
    // The sets of all checks, one behind the other; a Span leads into it.
    std::vector<RuleCheck::Part> parts_;
    std::vector<RuleCheck> duties_;
    std::vector<RuleCheck> checks_;
    // Indexed by tool; one entry more than there are tools.
    std::vector<std::uint32_t> first_check_;
    std::vector<std::vector<RuleCheck>> summaries_;
    std::vector<std::vector<std::uint32_t>> consents_;
};

}  // namespace quire::policy

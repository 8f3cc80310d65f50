// The rules that hold for one agent, compiled: what its prompt says and what its calls are held to
// are read off the same object. Immutable; any thread.
//
// The common rules and the agent's own are two levels, and both hold. Within one level and for one
// tool, rules of a type that name the tool stand in the place of those of that type for "*".
// exit_loop and continue_loop are one question in this: a rule of either that names the tool stands
// in the place of both for "*".
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

enum class Level : std::uint8_t { common, own };

// A set of tools of the catalog, or of operations of one tool, by their index.
class IndexSet {
public:
    IndexSet() = default;
    explicit IndexSet(std::size_t size) : words_((size + 63) / 64) {}
    void add(std::size_t index) { words_[index / 64] |= std::uint64_t{1} << (index % 64); }
    void remove(std::size_t index) { words_[index / 64] &= ~(std::uint64_t{1} << (index % 64)); }
    bool has(std::size_t index) const { return ((words_[index / 64] >> (index % 64)) & 1U) != 0; }
    bool empty() const;
    void clear();
    std::uint64_t word(std::size_t at) const { return words_[at]; }
    std::size_t words() const { return words_.size(); }
    friend bool operator==(const IndexSet&, const IndexSet&) = default;

private:
    std::vector<std::uint64_t> words_;
};

// One thing that is looked at before a call of one tool; a rule is one or several of them.
struct RuleCheck {
    enum class Kind : std::uint8_t {
        operation,         // The operation is in the set.
        calls,             // Called fewer than `number` times.
        cooldown,          // The last call began `number` ms ago or more.
        preceding,         // All of the set have succeeded.
        group,             // None of the set was called.
        consent,           // A person agreed.
        exit_required,     // The call ends the loop: all of the set succeeded in it …
        exit_required_if,  // … if any of `others` did.
        exit_following,    // … after tool `number` did last, where it did.
        exit_never,        // What must follow the tool cannot: it ends the loop.
    };
    // A part of a set: only the words that have a bit.
    struct Part {
        std::uint32_t word = 0;
        std::uint64_t bits = 0;
    };
    struct Span {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };
    Kind kind = Kind::operation;
    Per per = Per::session;
    std::uint32_t rule = 0;  // RuleSet::rules()[rule]
    Span set = {};           // Of RuleSet::parts().
    Span others = {};
    std::int64_t number = 0;
};

class RuleSet {
public:
    struct Placed {
        ToolRule rule;
        Level level = Level::common;
    };

    // Every tool that the rules name is in the catalog (rule_book.h checks it). O(rules × tools).
    RuleSet(std::shared_ptr<const ToolCatalog> catalog, std::vector<ToolRule> common,
            std::vector<ToolRule> own);

    const ToolCatalog& catalog() const { return *catalog_; }
    // By priority, the highest first; then the common ones first; then as they stand in the file.
    // It is the order of the sentences, and that in which refusals are told.
    std::span<const Placed> rules() const { return rules_; }
    const ToolRule& rule(std::size_t index) const { return rules_[index].rule; }
    // One for each rule, in order.
    std::vector<std::string> sentences() const;

    // What may be listed of a tool: none where all of its operations may be; else those that are
    // left, sorted.
    std::optional<std::vector<std::string>> allowed_operations(std::string_view tool) const;
    // Whether any of its operations is left. A tool without operations is listed.
    bool is_listed(std::string_view tool) const;
    bool is_listed(std::size_t tool) const { return listed_.has(tool); }
    // Whether agents can call it, whatever was called: it is there for them, and of its operations
    // one that is there is left.
    bool is_callable(std::size_t tool) const { return callable_.has(tool); }

    // Whether the rule is about calls of the tool: it names it, or is for "*" and no other stands
    // in its place. Of exclusive_groups: the tool is in a group of it. A rule for "*" that lists
    // tools is not about those; nor is its requires_following_tools about tools that end the loop.
    bool applies(std::size_t rule, std::size_t tool) const;
    // Whether it is for "*", and a rule that names the tool stands in its place.
    bool is_replaced(std::size_t rule, std::size_t tool) const;
    // The tools that a rule lists; of exclusive_groups those of group `group` that it binds.
    std::vector<std::size_t> listed_tools(std::size_t rule) const;
    std::vector<std::size_t> group_members(std::size_t rule, std::size_t group) const;

    bool ends_loop(std::size_t tool) const { return exits_.has(tool); }
    bool continues_loop(std::size_t tool) const { return continues_.has(tool); }
    bool has_exits() const { return !exits_.empty(); }
    bool starts_loop(std::size_t tool) const { return starts_.has(tool); }
    // Rules of start_constraint, in order.
    std::span<const std::uint32_t> start_rules() const { return start_rules_; }
    std::span<const std::uint32_t> periodic_rules() const { return periodic_rules_; }

    // For the automaton (rule_automaton.h).
    std::span<const RuleCheck> checks(std::size_t tool) const;
    // Fewer that hold just where all of checks() do: what several rules bound alike, bound once.
    std::span<const RuleCheck> summary(std::size_t tool) const { return summaries_[tool]; }
    // The rules that want a person's consent to it.
    std::span<const std::uint32_t> consents(std::size_t tool) const { return consents_[tool]; }
    // What has to be done before a loop ends, whatever ends it: all but the kinds before exit_….
    std::span<const RuleCheck> duties() const { return duties_; }
    std::span<const RuleCheck::Part> parts(RuleCheck::Span span) const {
        return std::span(parts_).subspan(span.begin, span.end - span.begin);
    }
    const IndexSet& start_tools() const { return starts_; }
    // The tools whose calls have to be remembered.
    const IndexSet& remembered(Per per) const { return remembered_[static_cast<std::size_t>(per)]; }
    std::size_t tool_of(std::size_t rule) const { return rule_tools_[rule]; }

private:
    static constexpr std::size_t kEveryTool = static_cast<std::size_t>(-1);

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
    // By level and type: the tools that are named.
    std::vector<IndexSet> named_;
    IndexSet exits_;
    IndexSet continues_;
    IndexSet starts_;
    IndexSet listed_;
    IndexSet callable_;
    IndexSet remembered_[std::size(kPers)];
    std::vector<std::uint32_t> start_rules_;
    std::vector<std::uint32_t> periodic_rules_;
    std::vector<RuleCheck::Part> parts_;
    std::vector<RuleCheck> duties_;
    std::vector<RuleCheck> checks_;
    std::vector<std::uint32_t> first_check_;  // By tool, and one more.
    std::vector<std::vector<RuleCheck>> summaries_;
    std::vector<std::vector<std::uint32_t>> consents_;
};

}  // namespace quire::policy

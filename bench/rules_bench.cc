// Measures one call under a thousand rules for tools, and a list of tools.
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/concat.h"
#include "json/json.h"
#include "json/schema/object_members.h"
#include "json/schema/operation_filter.h"
#include "policy/rule_analysis.h"
#include "policy/rule_automaton.h"

namespace quire::bench {
namespace {

using policy::RuleType;
using policy::ToolRule;

constexpr int kTools = 50;
constexpr int kRules = 1'000;

std::string tool(int index) {
    return cat("tool_", index % kTools);
}

std::shared_ptr<const policy::RuleSet> rule_set(std::vector<ToolRule> rules) {
    auto catalog = std::make_shared<policy::ToolCatalog>();
    for (int i = 0; i < kTools; ++i) catalog->add({tool(i), {"read", "write"}, true});
    return std::make_shared<const policy::RuleSet>(std::move(catalog), std::move(rules),
                                                   std::vector<ToolRule>());
}

ToolRule rule(RuleType type, std::string of) {
    ToolRule out;
    out.type = type;
    out.tool = std::move(of);
    out.priority = default_priority(type);
    out.number = type == RuleType::max_calls ? 1'000'000'000 : 0;
    return out;
}

// Rules of almost every type, over all tools: more than an operator would ever write.
std::vector<ToolRule> over_all_tools() {
    std::vector<ToolRule> rules;
    for (int i = 0; i < kRules; ++i) {
        const RuleType type = kEvery<policy::RuleType>[static_cast<std::size_t>(i) % 14];
        if (type == RuleType::start_constraint || type == RuleType::requires_consent) continue;
        ToolRule made = rule(type, type == RuleType::exit_loop ? tool(0) : tool(i));
        if (lists_tools(type)) made.tools = {tool(i + 1), tool(i + 2)};
        if (type == RuleType::requires_preceding_tools)
            made.tools = {tool(49)}, made.tool = tool(7);
        if (type == RuleType::allowed_operations) made.operations = {"read"};
        if (type == RuleType::exclusive_groups) made.groups = {{made.tool, tool(i + 25)}};
        rules.push_back(std::move(made));
    }
    return rules;
}

void decide(benchmark::State& state, std::vector<ToolRule> rules, const std::string& called,
            policy::Verdict expected) {
    const SystemClock clock;
    policy::RuleLedger ledger(rule_set(std::move(rules)), clock);
    const policy::RuleAutomaton automaton(ledger);
    for (auto _ : state) {
        const auto decision = automaton.decide({.tool = called, .operation = "read"});
        CHECK(decision.verdict == expected);
    }
}

// All of them about the one tool that is called, and all have to be looked at.
void all_about_one(benchmark::State& state, RuleType type) {
    std::vector<ToolRule> rules;
    for (int i = 0; i < kRules; ++i) {
        ToolRule made = rule(type, tool(0));
        if (type == RuleType::allowed_operations) made.operations = {"read"};
        if (type == RuleType::exclusive_groups) made.groups = {{tool(0), tool(1 + i % 48)}};
        if (type == RuleType::required_before_exit_if) made.tools = {tool(2 + i % 48)};
        rules.push_back(std::move(made));
    }
    if (type == RuleType::required_before_exit_if) {
        for (ToolRule& each : rules) each.tool = tool(1);
        rules.push_back(rule(RuleType::exit_loop, tool(0)));
    }
    decide(state, std::move(rules), tool(0), policy::Verdict::allow);
}

void admit_and_finish(benchmark::State& state) {
    const SystemClock clock;
    policy::RuleLedger ledger(rule_set(over_all_tools()), clock);
    policy::RuleAutomaton automaton(ledger);
    const std::string called = tool(3);
    for (auto _ : state) {
        auto admission = automaton.admit({.tool = called, .operation = "read"});
        CHECK(admission.ticket.has_value());
        automaton.finish(std::move(*admission.ticket), true);
    }
}

void analyse(benchmark::State& state) {
    const auto rules = rule_set(over_all_tools());
    for (auto _ : state) benchmark::DoNotOptimize(policy::analyse(*rules));
}

// A tool of six operations with their parameters, as our own have them.
Value schema_of_tool() {
    return json::parse(R"({"type": "object", "additionalProperties": false,
        "required": ["operation"], "properties": {
            "operation": {"type": "string",
                          "enum": ["list", "read", "write", "append", "move", "delete"],
                          "enumDescriptions": ["what there is", "the text", "the whole text",
                                               "text at the end", "another name", "for good"],
                          "default": "list", "examples": ["read", "delete"]},
            "path": {"type": "string", "description": "From the workspace's root."},
            "to": {"type": "string", "description": "The new name."},
            "content": {"type": "string", "description": "With its newlines."},
            "line": {"type": "integer", "minimum": 0, "description": "Counted from 0."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
            "mode": {"enum": ["text", "bytes"], "default": "text"},
            "view_range": {"type": "array", "items": {"type": "integer"}},
            "force": {"type": "boolean", "description": "Whatever stands there."},
            "expected": {"$ref": "#/$defs/Version"}},
        "allOf": [{"if": {"properties": {"operation": {"const": "move"}}},
                   "then": {"required": ["path", "to"]}},
                  {"if": {"properties": {"operation": {"const": "delete"}}},
                   "then": {"required": ["path", "expected"]}},
                  {"if": {"properties": {"operation": {"enum": ["read", "write"]}}},
                   "then": {"required": ["path"]}}],
        "$defs": {"Version": {"type": "integer", "minimum": 1}},
        "examples": [{"operation": "read", "path": "a.txt"},
                     {"operation": "delete", "path": "a.txt", "expected": 3}]})")
        .value();
}

// Makes anew the list of all tools that an actor is shown.
void list(benchmark::State& state) {
    std::vector<ToolRule> rules;
    for (int i = 0; i < kTools; ++i) {
        rules.push_back(rule(RuleType::allowed_operations, tool(i)));
        rules.back().operations = {"read"};
    }
    const auto set = rule_set(std::move(rules));
    const std::vector<Value> schemas(kTools, schema_of_tool());
    const std::vector<std::string> unused = {"to", "content", "force"};
    for (auto _ : state) {
        for (int i = 0; i < kTools; ++i) {
            const auto left = set->allowed_operations(tool(i));
            CHECK(set->is_listed(tool(i)) && left.has_value());
            const Value& whole = schemas[static_cast<std::size_t>(i)];
            benchmark::DoNotOptimize(
                json::without_members(json::filter_schema_enum(whole, "operation", *left), unused));
        }
    }
}

const int kRegistered = [] {
    using policy::Verdict;
    benchmark::RegisterBenchmark("Rules/1000_over_50_tools", [](benchmark::State& state) {
        decide(state, over_all_tools(), tool(3), Verdict::allow);
    });
    benchmark::RegisterBenchmark("Rules/1000_refused", [](benchmark::State& state) {
        decide(state, over_all_tools(), tool(7), Verdict::deny);
    });
    for (const RuleType type : {RuleType::max_calls, RuleType::allowed_operations,
                                RuleType::exclusive_groups, RuleType::required_before_exit_if}) {
        benchmark::RegisterBenchmark(
            cat("Rules/1000_of_one_tool/", name_of(type)).c_str(),
            [type](benchmark::State& state) { all_about_one(state, type); });
    }
    benchmark::RegisterBenchmark("Rules/1000_admit_and_finish", admit_and_finish);
    benchmark::RegisterBenchmark("Rules/1000_analysed", analyse);
    benchmark::RegisterBenchmark("Rules/list_50_tools", list)->Unit(benchmark::kMicrosecond);
    return 0;
}();

}  // namespace
}  // namespace quire::bench

// Compares the claims of the analysis of rules with a search of everything that can be called.
#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "crdt/undo/random_script_for_test.h"
#include "json/json.h"
#include "policy/rule_analysis.h"
#include "tests/model/random_rules.h"
#include "tests/model/rules_model.h"

namespace quire {
namespace {

using crdt::Played;
using crdt::Script;
using crdt::Tape;
using policy::RuleFinding;

constexpr std::size_t kMostStates = 1'500;

// All that calls which succeed can lead to. Time is no matter: each waits long enough.
class Search {
public:
    Search(const rules_model::RandomRules& rules, bool sessions_alone)
        : catalog_(rules_model::few_tools()), sessions_alone_(sessions_alone) {
        rules_model::Rules first(catalog_, rules.common, rules.own);
        has_exits_ = first.has_exits();
        const std::size_t session = first.new_session();
        visit(std::move(first), session);
        while (!waiting_.empty() && whole_) {
            const State state = std::move(waiting_.front());
            waiting_.pop_front();
            go_on(state);
        }
    }

    bool is_whole() const { return whole_; }
    bool can_end() const { return can_end_; }
    bool was_called(const std::string& tool) const { return called_.contains(tool); }
    // The most loops that one session ended.
    std::size_t most_loops() const { return most_loops_; }
    // In a loop that ended.
    bool ended_with(const std::string& tool) const { return ended_with_.contains(tool); }

private:
    struct State {
        rules_model::Rules rules;
        std::size_t session;
        std::int64_t time;
    };

    void visit(rules_model::Rules rules, std::size_t session, std::int64_t time = 0) {
        if (!has_exits_ && rules.report(session, {time, time}).outstanding.empty()) {
            can_end_ = true;
            note_end(rules, session);
        }
        if (!seen_.insert(rules.state_of(session)).second) return;
        if (seen_.size() > kMostStates) {
            whole_ = false;
            return;
        }
        waiting_.push_back({std::move(rules), session, time});
    }

    void note_end(const rules_model::Rules& rules, std::size_t session) {
        for (const policy::KnownTool& tool : catalog_.tools()) {
            if (rules.has_succeeded_in_loop(session, tool.name)) ended_with_.insert(tool.name);
        }
    }

    void go_on(const State& state) {
        const std::int64_t time = state.time + 1'000'000;
        const rules_model::Now now{time, time};
        for (const policy::KnownTool& tool : catalog_.tools()) {
            if (!tool.built) continue;
            std::vector<std::string> operations;
            for (const std::string& word : tool.operations) {
                if (std::find(tool.later.begin(), tool.later.end(), word) == tool.later.end())
                    operations.push_back(word);
            }
            if (tool.operations.empty()) operations.emplace_back();
            for (const char* conversation : {"", "k"}) {
                if (sessions_alone_ && *conversation != '\0') continue;
                for (const std::string& word : operations) {
                    const rules_model::Asked asked{state.session, tool.name, word, conversation,
                                                   true};
                    if (!state.rules.ask(asked, now).reason.empty()) continue;
                    call(state, asked, now);
                    break;
                }
            }
        }
        if (sessions_alone_) return;
        rules_model::Rules rules = state.rules;
        const std::size_t session = rules.new_session();
        visit(std::move(rules), session, time);
    }

    void call(const State& state, const rules_model::Asked& asked, rules_model::Now now) {
        rules_model::Rules rules = state.rules;
        const rules_model::Rules before = rules;
        const std::size_t index = rules.begin(asked, now);
        called_.insert(asked.tool);
        if (rules.finish(index, true, now) == rules_model::Rules::Step::ended) {
            can_end_ = true;
            most_loops_ = std::max(most_loops_, rules.report(asked.session, now).loops_ended);
            note_end(before, asked.session);
            ended_with_.insert(asked.tool);
        }
        visit(std::move(rules), asked.session, now.steady_ms);
    }

    policy::ToolCatalog catalog_;
    bool sessions_alone_;
    bool has_exits_ = false;
    bool whole_ = true;
    bool can_end_ = false;
    std::size_t most_loops_ = 0;
    std::set<std::string> called_;
    std::set<std::string> ended_with_;
    std::set<std::string> seen_;
    std::deque<State> waiting_;
};

struct Counts {
    unsigned searched = 0;
    unsigned never_end = 0;
    unsigned dead_ends = 0;
    unsigned never_called = 0;
    unsigned one_loop = 0;
};

std::string hold(const std::vector<RuleFinding>& found, const Search& search, bool exact,
                 Counts& counts) {
    using Kind = RuleFinding::Kind;
    bool never_ends = false;
    for (const RuleFinding& each : found) {
        switch (each.kind) {
            case Kind::never_ends:
                never_ends = true;
                ++counts.never_end;
                if (search.can_end()) return cat("it can end: ", each.message);
                break;
            case Kind::dead_end:
                ++counts.dead_ends;
                if (search.ended_with(each.tool)) return cat("it can end: ", each.message);
                for (const std::string& tool : each.also) {
                    if (search.ended_with(tool)) return cat("it can end: ", each.message);
                }
                break;
            case Kind::cannot_begin:
            case Kind::cycle:
            case Kind::excluded:
            case Kind::never_called:
            case Kind::waits_in_vain:
                ++counts.never_called;
                if (search.was_called(each.tool)) return cat("it can be called: ", each.message);
                for (const std::string& tool : each.also) {
                    if (search.was_called(tool)) return cat("it can be called: ", each.message);
                }
                break;
            case Kind::one_loop:
                ++counts.one_loop;
                if (search.most_loops() > 1) return cat("it does two loops: ", each.message);
                break;
            case Kind::ends_and_continues:
            case Kind::never_ends_alone:
            case Kind::without_effect:
            case Kind::not_built:
            case Kind::not_in_profile:
                break;
        }
    }
    if (exact && search.is_whole() && !search.can_end() && !never_ends)
        return "no loop can end, and nothing says so";
    return "";
}

Counts compare(bool sessions_alone) {
    Counts counts;
    crdt::play_seeds(4, 1, [&](Tape& tape, Script& script) {
        Played out;
        if (script.empty()) return out;
        tape.turn_to(script[0].choice);
        if (tape.is_random()) script[0].edits.resize(1 + tape.pick(8));
        const auto drawn = rules_model::random_rules(
            tape, script[0].edits, {.sessions_alone = sessions_alone, .demanding = true});
        for (const auto* level : {&drawn.common, &drawn.own}) {
            for (const policy::ToolRule& rule : *level)
                out.told.push_back(json::write(policy::as_value(rule)));
        }
        const policy::RuleSet rules(
            std::make_shared<const policy::ToolCatalog>(rules_model::few_tools()), drawn.common,
            drawn.own);
        const Search search(drawn, sessions_alone);
        counts.searched += search.is_whole() ? 1 : 0;
        const std::string wrong = hold(policy::analyse(rules), search, sessions_alone, counts);
        if (!wrong.empty()) out.failure = wrong;
        return out;
    });
    testing::Test::RecordProperty("searched", static_cast<int>(counts.searched));
    testing::Test::RecordProperty("never_end", static_cast<int>(counts.never_end));
    testing::Test::RecordProperty("dead_ends", static_cast<int>(counts.dead_ends));
    testing::Test::RecordProperty("never_called", static_cast<int>(counts.never_called));
    testing::Test::RecordProperty("one_loop", static_cast<int>(counts.one_loop));
    return counts;
}

TEST(RulesAnalysis, PerSessionRulesMatchASearchOfAllCalls) {
    const Counts counts = compare(true);

    // A comparison that never meets what it is about would show nothing.
    if (std::getenv("SEED") != nullptr) return;
    EXPECT_GT(counts.searched, 100U / kRoundsShare);
    EXPECT_GT(counts.never_end, 40U / kRoundsShare);
    EXPECT_GT(counts.dead_ends, 30U / kRoundsShare);
    EXPECT_GT(counts.never_called, 100U / kRoundsShare);
    // A share of the seeds may meet none.
    if (kRoundsShare == 1) {
        EXPECT_GT(counts.one_loop, 0U);
    }
}

TEST(RulesAnalysis, WithAllConversationsAndSessionsNothingIsClaimedThatCanBeCalled) {
    const Counts counts = compare(false);

    if (std::getenv("SEED") != nullptr) return;
    EXPECT_GT(counts.searched, 50U / kRoundsShare);
    EXPECT_GT(counts.never_end, 40U / kRoundsShare);
}

}  // namespace
}  // namespace quire
